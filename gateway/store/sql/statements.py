"""Statements and values for both SQLite and PostgreSQL."""

from collections.abc import Collection
from typing import Any, Final

import msgspec
from sqlalchemy import Table, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

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


def as_json(value: Any) -> str:
    """JSON text, which databases store unchanged."""
    return msgspec.json.encode(value).decode()
