"""The Python functions that a binding names."""

from collections.abc import Iterator

from gateway.codegen.fieldmap.nodes import (
    Each,
    FieldFunction,
    HandlerMap,
    HttpMap,
    Items,
    Members,
    Value,
)
from gateway.codegen.fieldmap.targets import maps


def functions(written: HttpMap | HandlerMap) -> Iterator[tuple[str, str, str]]:
    """Pointer inside `x-binding`, module and function of each, in the order of the contract."""
    if isinstance(written, HandlerMap):
        yield written.pointer, written.module, written.function
        return
    for part in maps(written):
        for members in _groups(part):
            for found in _inside(members):
                yield f"{found.pointer}/python", found.module, found.function


def _groups(written: HttpMap) -> Iterator[Members]:
    yield from (written.path, written.query, written.header)
    if written.body is not None:
        yield written.body
    yield from written.results.values()
    for meaning in written.errors.values():
        if meaning.result is not None:
            yield meaning.result


def _inside(value: Value) -> Iterator[FieldFunction]:
    match value:
        case FieldFunction():
            yield value
        case Members(values=values):
            for part in values.values():
                yield from _inside(part)
        case Items(values=parts):
            for part in parts:
                yield from _inside(part)
        case Each(item=item):
            yield from _inside(item)
        case _:
            return
