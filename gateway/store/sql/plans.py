"""Runs statements of SQLAlchemy by SQLite's driver, without SQLAlchemy's connection.

For a short statement, that connection costs ten times what the database does: greenlets, events, an
execution context, a result with its metadata. So a statement is compiled once for each form, and
its text and values go to the driver. A read is one hop to another thread and back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import BindParameter, Delete, Insert, Select, TextualSelect, Update
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine
from sqlalchemy.util import LRUCache

Query = Select[Any] | TextualSelect
Statement = Query | Insert | Update | Delete
Row = Mapping[str, Any]
NO_VALUES: Final[Mapping[str, Any]] = {}
_FORMS: Final = 500
_Convert = Callable[[Any], Any]


class Ready(Struct, frozen=True):
    """A statement as the driver takes it."""

    text: str
    values: tuple[Any, ...]
    rows: Callable[[Sequence[Sequence[Any]]], list[dict[str, Any]]]
    """Converts rows of the driver to values by the names of their columns."""


class _Plan(Struct, frozen=True):
    """A compiled statement."""

    compiled: SQLCompiler
    text: str
    names: tuple[str, ...]
    encoders: Mapping[str, _Convert]
    columns: tuple[str, ...]
    decoders: tuple[tuple[str, _Convert], ...]

    def driver_values(self, values: Row, own: Sequence[BindParameter[Any]]) -> tuple[Any, ...]:
        """The values for the driver: `values`, and `own`, which the statement itself has."""
        given = self.compiled.construct_params(values, extracted_parameters=own)
        encoders = self.encoders
        return tuple(
            encoders[name](given[name]) if name in encoders else given[name] for name in self.names
        )

    def rows(self, found: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        """See `Ready.rows`."""
        rows = [dict(zip(self.columns, each, strict=True)) for each in found]
        for name, decode in self.decoders:
            for row in rows:
                row[name] = decode(row[name])
        return rows


class Plans:
    """The plans of the statements of one database, by their forms."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: LRUCache[Any, _Plan | None] = LRUCache(_FORMS)

    def forget(self) -> None:
        """Forget all plans. The next use of a form makes its plan again."""
        self._known.clear()

    def ready(self, statement: Statement, values: Mapping[str, Any] = NO_VALUES) -> Ready | None:
        """`statement` with the values of its parameters. None: SQLAlchemy must run it."""
        found = self.ready_for_each(statement, [values])
        return found[0] if found is not None else None

    def ready_for_each(
        self, statement: Statement, rows: Sequence[Mapping[str, Any]]
    ) -> list[Ready] | None:
        """`statement` once for each of `rows`, as `ready`."""
        key = statement._generate_cache_key()  # noqa: SLF001 - by which SQLAlchemy keeps its own
        if key is None:
            return None
        if key.key not in self._known:
            self._known[key.key] = _plan(statement, key, self._dialect)
        plan = self._known[key.key]
        if plan is None:
            return None
        return [
            Ready(plan.text, plan.driver_values(values, key.bindparams), plan.rows)
            for values in rows
        ]


def _plan(statement: Statement, key: object, dialect: Dialect) -> _Plan | None:
    compiled = statement.compile(dialect=dialect, cache_key=key)
    if compiled.positiontup is None:
        raise TypeError("the parameters of SQLite's driver have positions")
    if compiled.post_compile_params or compiled.literal_execute_params or compiled.prefetch:
        # The text depends on the values, or SQLAlchemy adds values.
        return None
    found = [
        (str(column.keyname), column.type)
        for column in compiled._result_columns  # noqa: SLF001 - nothing public has the order
    ]
    encoders = {
        name: encode
        for name in compiled.positiontup
        if (encode := _impl(compiled.binds[name].type, dialect).bind_processor(dialect))
    }
    decoders = (
        (name, decode)
        for name, kind in found
        if (decode := _impl(kind, dialect).result_processor(dialect, None))
    )
    return _Plan(
        compiled,
        str(compiled),
        tuple(compiled.positiontup),
        encoders,
        tuple(name for name, _ in found),
        tuple(decoders),
    )


def _impl(kind: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return kind.dialect_impl(dialect)
