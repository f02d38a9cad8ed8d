"""The workspace: the gateway's own database that replaces an upstream with tables.

The tables are made from the contract's shapes. Missing tables and columns are added.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any, Final
from uuid import UUID, uuid4

from msgspec import Struct
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    DateTime,
    Dialect,
    Float,
    MetaData,
    Table,
    Text,
    false,
    func,
    inspect,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, TEXT
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateColumn
from sqlalchemy.sql.elements import ColumnElement, TextClause
from sqlalchemy.types import TypeEngine

from gateway.clock import Clock
from gateway.contract.rows.rows import KEY, ColumnKind, Shape
from gateway.contract.rows.rows import Column as Declared
from gateway.contract.rows.tables import (
    Filter,
    Row,
    RowConflict,
    Selection,
)
from gateway.errors import StoreError, UpstreamUnavailable
from gateway.store.sql.database import Database
from gateway.store.sql.engines import engines_at, failures, is_conflict
from gateway.store.sql.row_statements import TURN, Statements, changed_rows, refuse_many
from gateway.store.sql.sqlite import run, sqlite3
from gateway.store.tables import Moment

_LOCK: Final = 0x67617465
"""The advisory lock of PostgreSQL that lets one start at a time change the tables."""
_TYPES: Final[Mapping[ColumnKind, TypeEngine[Any]]] = {
    # Text is compared by code points. SQLite does this by default.
    "text": Text().with_variant(TEXT(collation="C"), "postgresql"),
    "integer": BigInteger(),
    "number": Float(53),
    "boolean": Boolean(),
    "date": Date(),
    "moment": DateTime(timezone=True).with_variant(Moment(), "sqlite"),
    "json": JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql"),
}
_log: Final = logging.getLogger(__name__)
_FAILED: Final = "The workspace database failed."


def tables_of(shapes: Iterable[Shape]) -> dict[str, Table]:
    """The table of each shape, by name."""
    metadata = MetaData()
    return {
        shape.table: Table(shape.table, metadata, *map(_column, shape.columns.values()))
        for shape in shapes
    }


def bring_up_to_date(connection: Connection, tables: Iterable[Table], label: str) -> None:
    """Add the missing tables and columns.

    Raises `StoreError`, which calls the database `label`, for other differences.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    inspector = inspect(connection)
    present = frozenset(inspector.get_table_names())
    for table in tables:
        if table.name not in present:
            table.create(connection)
            continue
        found = {facts["name"]: facts for facts in inspector.get_columns(table.name)}
        _refuse_differences(connection.dialect, table, found, label)
        for column in table.columns:
            if column.name not in found:
                _add(connection, column)


def _column(declared: Declared) -> Column[Any]:
    return Column(
        declared.name,
        _TYPES[declared.kind],
        primary_key=declared.name == KEY,
        nullable=declared.is_nullable,
        server_default=_default(declared),
    )


def _default(declared: Declared) -> str | TextClause | ColumnElement[Any] | None:
    match declared.default:
        case bool() as boolean:
            return true() if boolean else false()
        case str() as characters:
            return characters
        case int() | float() as number:
            return text(repr(number))
    return None


def _refuse_differences(
    dialect: Dialect, table: Table, found: Mapping[str, Any], label: str
) -> None:
    for column in table.columns:
        facts = found.get(column.name)
        where = f"{label}: the column {column.name} of {table.name}"
        if facts is None and not column.nullable and column.server_default is None:
            raise StoreError(
                f"{where} is new and must not be empty, but existing rows have no value for it; "
                "add the column yourself"
            )
        if facts is not None and _type(facts["type"], dialect) != _type(column.type, dialect):
            raise StoreError(
                f"{where} is {_type(facts['type'], dialect)} and should be "
                f"{_type(column.type, dialect)}; change its type, or name another database"
            )
    for name, facts in found.items():
        if name not in table.columns and not facts["nullable"] and facts["default"] is None:
            raise StoreError(
                f"{label}: the column {name} of {table.name} must not be empty, and no contract "
                "declares it; give it a default, or name another database"
            )


def _type(kind: TypeEngine[Any], dialect: Dialect) -> str:
    """The type's name in SQL, without collation, and on SQLite without sizes."""
    name = kind.compile(dialect).partition(" COLLATE")[0]
    return (
        {"FLOAT(53)": "DOUBLE PRECISION"}.get(name, name)
        if _has_doubles(dialect)
        else name.partition("(")[0]
    )


def _has_doubles(dialect: Dialect) -> bool:
    return dialect.name == "postgresql"


def _add(connection: Connection, column: Column[Any]) -> None:
    """Add a column. All names in the statement come from the contract and are quoted."""
    dialect = connection.dialect
    table = dialect.identifier_preparer.format_table(column.table)
    definition = CreateColumn(column).compile(dialect=dialect)
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {definition}")


def _new_key() -> str:
    return str(uuid4())


def seeded_keys(seed: str) -> Callable[[], str]:
    """A function that makes UUIDs. The same seed gives the same sequence."""
    numbers = count(1)

    def new_key() -> str:
        digest = hashlib.sha256(f"{seed} {next(numbers)}".encode()).digest()
        return str(UUID(bytes=digest[:16], version=4))

    return new_key


class _Opened(Struct, frozen=True):
    database: Database
    statements: Mapping[str, Statements]


class Workspace:
    """`Tables` in the gateway's own database, which is opened at the first use."""

    def __init__(
        self,
        url: str,
        shapes: Iterable[Shape],
        clock: Clock,
        new_key: Callable[[], str] = _new_key,
    ) -> None:
        self._url = url
        # The rows of tables that show entities are in the gateway's store.
        self._shapes = {shape.table: shape for shape in shapes if shape.entity is None}
        self._clock = clock
        self._new_key = new_key
        self._opening: asyncio.Task[_Opened] | None = None

    async def select(self, selection: Selection) -> list[Row]:
        try:
            opened = await self._opened()
            statements = opened.statements[selection.table]
            found = await opened.database.rows(statements.select(selection))
        except StoreError as error:
            raise _unavailable(error, is_sent=False) from None
        return await statements.canonical(found)

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        keyed = [row if KEY in row else {KEY: self._new_key(), **row} for row in rows]

        async def add(connection: AsyncConnection, statements: Statements) -> list[Row]:
            now = self._clock.now()
            new = [statements.new(row, now) for row in keyed]
            if len(new) == 1:
                return await statements.canonical(
                    await run(connection, statements.insertion, new[0])
                )
            by_key: dict[Any, Row] = {}
            for first in range(0, len(new), TURN):
                found = await connection.execute(statements.insertion, new[first : first + TURN])
                by_key |= {row[KEY]: row for row in await statements.canonical(found.mappings())}
            return [by_key[row[KEY]] for row in keyed]

        return await self._changing(table, add)

    async def update(
        self, table: str, filters: Sequence[Filter], values: Mapping[str, Any]
    ) -> list[Row]:
        async def change(connection: AsyncConnection, statements: Statements) -> list[Row]:
            await refuse_many(connection, statements, filters)
            new = statements.changes(values, self._clock.now())
            found = await connection.execute(statements.update(filters, new))
            return await changed_rows(statements, found.mappings().all())

        return await self._changing(table, change)

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:
        async def remove(connection: AsyncConnection, statements: Statements) -> list[Row]:
            await refuse_many(connection, statements, filters)
            found = await connection.execute(statements.delete(filters))
            return await changed_rows(statements, found.mappings().all())

        return await self._changing(table, remove)

    async def check(self) -> str:
        """Read from the database. Returns its name, which never contains a password.

        Raises `StoreError` when it cannot be used.
        """
        database = (await self._opened()).database
        await database.rows(select(1))
        return database.engines.label

    async def close(self) -> None:
        """Wait for running requests, and close all connections."""
        if self._opening is not None and self._opening.done() and not _failed(self._opening):
            await self._opening.result().database.close()
        self._opening = None

    async def _changing(
        self, table: str, change: Callable[[AsyncConnection, Statements], Awaitable[list[Row]]]
    ) -> list[Row]:
        """Run `change` in one transaction. After an error before the commit, nothing is changed."""
        is_committing = False

        async def work(connection: AsyncConnection, _now: datetime) -> list[Row]:
            nonlocal is_committing
            is_committing = False  # it may run again
            try:
                rows = await change(connection, opened.statements[table])
            except (IntegrityError, sqlite3.IntegrityError) as error:
                if is_conflict(error):
                    raise RowConflict from None
                raise
            is_committing = True
            return rows

        try:
            opened = await self._opened()
            return await opened.database.write(work)
        except StoreError as error:
            raise _unavailable(error, is_sent=is_committing) from None

    async def _opened(self) -> _Opened:
        """The open database. Calls at the same time wait for the same attempt to open it.

        Raises `StoreError`, also when its file was deleted or replaced.
        """
        if self._opening is None or (self._opening.done() and _failed(self._opening)):
            self._opening = asyncio.create_task(_open(self._url, self._shapes, self._clock))
            self._opening.add_done_callback(_failed)
        opened = await asyncio.shield(self._opening)
        opened.database.engines.refuse_lost()
        return opened


async def _open(url: str, shapes: Mapping[str, Shape], clock: Clock) -> _Opened:
    engines = engines_at(url, "workspace database")
    tables = tables_of(shapes.values())
    try:
        async with failures(engines.label), engines.writer.begin() as connection:
            await connection.run_sync(bring_up_to_date, tables.values(), engines.label)
    except StoreError:
        await engines.dispose()
        raise
    dialect = engines.writer.dialect.name
    return _Opened(
        Database(engines, clock),
        {name: Statements(shapes[name], table, dialect) for name, table in tables.items()},
    )


def _failed(task: asyncio.Task[Any]) -> bool:
    """Whether the task ended without a result.

    Reading the exception keeps asyncio from logging that it was never retrieved.
    """
    return task.cancelled() or task.exception() is not None


def _unavailable(error: StoreError, *, is_sent: bool) -> UpstreamUnavailable:
    _log.error("workspace: %s", error.detail)
    return UpstreamUnavailable(_FAILED, is_sent=is_sent)
