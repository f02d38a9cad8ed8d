"""Statements and values for both SQLite and PostgreSQL, and many rows at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Float,
    FromClause,
    Integer,
    LargeBinary,
    RowMapping,
    Select,
    Table,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine

from gateway.store.sql.sqlite import driver_of
from gateway.store.tables import Moment, microseconds

READ_AT_MOST: Final = 20_000
"""The most rows that one page reads, because most conditions have no index."""

Found: TypeAlias = tuple[Sequence[RowMapping], str | None]
"""Rows, and the id after which the next page starts. None if there are no more."""
Conditions: TypeAlias = Callable[[FromClause], Sequence[ColumnElement[bool]]]
"""The conditions for the rows of a subquery."""
_LOCKS: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(name, 0))"
    " FROM unnest(CAST(:names AS text[])) AS name"
)
_ROWS_PER_STATEMENT: Final = 500
"""Rows in one statement: SQLite accepts 32,766 values, and each row has fewer than 20."""
_ARRAYS: Final[Mapping[type[TypeEngine[Any]], str]] = {
    Boolean: "boolean[]",
    BigInteger: "bigint[]",  # before Integer, of which it is a subclass
    Integer: "integer[]",
    Float: "double precision[]",
    LargeBinary: "bytea[]",
    Moment: "bigint[]",
}

_microseconds: Final = lru_cache(maxsize=64)(microseconds)
"""Cached, because the rows of one transaction have few different times."""


class Bulk:
    """Adds rows to one table, each with a value for every column."""

    def __init__(self, table: Table, conflict: str = "", returning: str = "") -> None:
        """`conflict` is an ON CONFLICT clause. `returning` is the column that `add` returns."""
        self._columns = tuple(column.name for column in table.columns)
        self._values_of = itemgetter(*self._columns)
        kinds = enumerate(column.type for column in table.columns)
        self._moments = tuple(index for index, kind in kinds if isinstance(kind, Moment))
        names = ", ".join(self._columns)
        self._into = f"INSERT INTO {table.name} ({names})"
        self._tail = f" {conflict}" + (f" RETURNING {returning}" if returning else "")
        self._row = f"({', '.join('?' * len(self._columns))})"
        self._insert_one = f"{self._into} VALUES {self._row}{self._tail}"
        arrays = (_array(column.type) for column in table.columns)
        numbered = (f"${index}::{array}" for index, array in enumerate(arrays, 1))
        rows = f"SELECT * FROM unnest({', '.join(numbered)})"  # noqa: S608 - names of our tables
        self._insert_arrays = f"{self._into} {rows}{self._tail}"
        self._is_returning = bool(returning)
        self._sized = lru_cache(maxsize=64)(self._values)

    async def add(self, connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> set[str]:
        """Add `rows`. Returns the values of the column `returning` for the rows that were added."""
        found: set[str] = set()
        for start in range(0, len(rows), _ROWS_PER_STATEMENT):
            batch = list(map(self._driver_values, rows[start : start + _ROWS_PER_STATEMENT]))
            found |= await self._add(connection, batch)
        return found

    async def _add(self, connection: AsyncConnection, rows: list[tuple[Any, ...]]) -> set[str]:
        if connection.dialect.name == "postgresql":
            columns = tuple(map(list, zip(*rows, strict=True)))
            done = await connection.exec_driver_sql(self._insert_arrays, columns)
            return set(done.scalars()) if self._is_returning else set()
        driver = driver_of(connection)
        if driver is None:
            raise TypeError("rows must be added by a writing connection")
        if self._is_returning:
            values = tuple(value for row in rows for value in row)
            return set(driver.first_column(self._sized(len(rows)), values))
        driver.insert_rows(self._insert_one, rows)
        return set()

    def _values(self, count: int) -> str:
        return f"{self._into} VALUES {', '.join([self._row] * count)}{self._tail}"

    def _driver_values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values in the form that the drivers need."""
        values = [*self._values_of(row)]
        for index in self._moments:
            if values[index] is not None:
                values[index] = _microseconds(values[index])
        return tuple(values)


def insert_into(dialect: str, table: Table) -> Any:
    """An INSERT with `on_conflict_…` methods, in the dialect of this name."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


async def go_one_by_one(connection: AsyncConnection, names: Collection[str]) -> None:
    """Wait for the transactions that have called this with one of `names`, and let later ones wait.

    The statements after this one see what those have committed. SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        # Always in the same order, so that two transactions cannot deadlock.
        await connection.execute(_LOCKS, {"names": sorted(names)})


async def read_page(
    connection: AsyncConnection, newest: Select[Any], conditions: Conditions, limit: int
) -> Found:
    """The first `limit` rows of `newest` that meet `conditions`, among the first `READ_AT_MOST`.

    `newest` finds its rows by an index, ordered by its column `id`, the largest first. A page can
    be short, or empty, and have a next one.
    """
    read = newest.limit(READ_AT_MOST).subquery()
    wanted = conditions(read)
    last = newest
    if wanted:
        last = select(read).where(*wanted).order_by(read.c.id.desc())
    rows = (await connection.execute(last.limit(limit))).mappings().all()
    if len(rows) == limit:
        return rows, rows[-1]["id"]
    if not wanted:
        return rows, None
    # If it ended at the limit of rows, the next page begins after the last row that was read.
    oldest = select(read.c.id).order_by(read.c.id.desc()).offset(READ_AT_MOST - 1)
    return rows, await connection.scalar(oldest)


def as_json(value: Any) -> str:
    """JSON text, which databases store unchanged."""
    return msgspec.json.encode(value).decode()


def _array(kind: TypeEngine[Any]) -> str:
    return next((array for each, array in _ARRAYS.items() if isinstance(kind, each)), "text[]")
