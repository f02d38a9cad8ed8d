"""Tables of examples: all rows of a table are one test, for a test costs more than most rows do."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

Test = Callable[..., Any]


def each_of(
    names: str | Sequence[str], rows: Iterable[Any], ids: Any = None
) -> Callable[[Test], Test]:
    """What `pytest.mark.parametrize` does, in one test. The row that fails is named.

    Fixtures are shared by all rows, so the test must leave them as they were. `ids` are the names
    of the rows, or make the name of one of its values.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    values = [row if len(wanted) > 1 else (row,) for row in rows]
    labels = [_label(row, ids) for row in values] if ids is None or callable(ids) else [*ids]
    table = [
        (str(label), dict(zip(wanted, row, strict=True)))
        for label, row in zip(labels, values, strict=True)
    ]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            for label, row in table:
                with _at(label):
                    test(**fixtures, **row)

        @wraps(test)
        async def run_async(**fixtures: Any) -> None:
            for label, row in table:
                with _at(label):
                    await test(**fixtures, **row)

        made: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in wanted]
        made.__signature__ = signature.replace(parameters=kept)
        return made

    return decorate


def _label(row: Sequence[Any], name: Callable[[Any], Any] | None) -> str:
    said = [None if name is None else name(value) for value in row]
    pairs = zip(said, row, strict=True)
    return ", ".join(repr(value)[:300] if label is None else str(label) for label, value in pairs)


@contextmanager
def _at(row: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the row: {row}")
        raise
