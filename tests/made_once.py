"""What every gateway of the tests has in common: it is made once in a process, for all of them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from litestar.utils.signature import ParsedSignature
from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import LRUCache

from gateway.store.sql import database, engine, sqlite
from gateway.store.sql.plans import Plans

_SCHEMA = text(
    "SELECT sql FROM sqlite_master "
    "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
)
_FORMS = 2000


@contextmanager
def made_once() -> Iterator[None]:
    """Create tables by the text that the first store of the process had, and see `make_alike`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create_all", _remembering(engine.create_all))
        make_alike(patch)
        yield


def make_alike(patch: pytest.MonkeyPatch) -> None:
    """Compile each statement for SQLite once, and read the signature of each route once."""
    patch.setattr(sqlite, "create_async_engine", _create_engine)
    for module in (database, sqlite):
        patch.setattr(module, "Plans", _KnownPlans)
    patch.setattr(ParsedSignature, "from_fn", _known_signatures(ParsedSignature.from_fn))


def make_anew(patch: pytest.MonkeyPatch) -> None:
    """Compile statements for each database, as without tests: for a test of what is kept."""
    patch.setattr(sqlite, "create_async_engine", create_async_engine)
    for module in (database, sqlite):
        patch.setattr(module, "Plans", Plans)


class _Dialect(SQLiteDialect_aiosqlite):
    """Equal to all others, so that all engines find what one of them has compiled."""

    supports_statement_cache = True

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Dialect)


_compiled = LRUCache[Any, Any](_FORMS)
_plans = LRUCache[Any, Any](_FORMS)


def _create_engine(*arguments: Any, **options: Any) -> AsyncEngine:
    made = create_async_engine(*arguments, **options)
    made.dialect.__class__ = _Dialect
    made.sync_engine._compiled_cache = _compiled
    return made


class _KnownPlans(Plans):
    """Those of all databases: their dialects are equal."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._known = _plans


def _known_signatures(from_fn: Callable[..., ParsedSignature]) -> Callable[..., ParsedSignature]:
    """Routes are closures, made anew for each application from the same code."""
    known: dict[Any, tuple[Any, ParsedSignature]] = {}

    def parsed(function: Any, namespace: dict[str, Any]) -> ParsedSignature:
        names = ("__annotations__", "__defaults__", "__kwdefaults__")
        given = [getattr(function, name, None) for name in names]
        code = getattr(function, "__code__", function)
        found = known.get(code)
        if found is None or found[0] != given:
            found = known[code] = (given, from_fn(function, namespace))
        return found[1]

    return parsed


def _remembering(create_all: Any) -> Any:
    made: list[str] = []

    def create(connection: Connection, entities: Iterable[Table]) -> None:
        if connection.dialect.name != "sqlite" or _statements(connection):
            create_all(connection, entities)
            return
        if not made:
            create_all(connection, ())
            made.extend(_statements(connection))
        else:
            for statement in made:
                connection.exec_driver_sql(statement)
        for table in entities:
            table.create(connection, checkfirst=True)

    return create


def _statements(connection: Connection) -> list[str]:
    return list(connection.execute(_SCHEMA).scalars())
