"""Statements and values for both SQLite and PostgreSQL."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, FromClause, RowMapping, Select, Table, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

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


def insert_into(connection: AsyncConnection, table: Table) -> Any:
    """An INSERT with `on_conflict_…` methods, in the dialect of the connection's database."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


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
