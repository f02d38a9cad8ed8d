"""A database with one table of entities, for tests."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import SystemClock
from gateway.store.records import EntityChange
from gateway.store.sql.database import Database
from gateway.store.sql.engines import engines_at
from gateway.store.sql.entities import write_entities
from generated.entities import TABLES as GENERATED
from tests.conformance.entity_table import KIND, TABLE

NOW = datetime(2026, 11, 20, 14, 30, 0, 123456, tzinfo=UTC)
TABLES = {KIND: TABLE}


def change(values: dict[str, Any], at: int = 0, mode: Any = "upsert") -> EntityChange:
    """What a message of minute `at` reports."""
    return EntityChange(
        kind=KIND,
        values=values,
        mode=mode,
        webhook_id=str(UUID(int=at)),
        occurred_at=NOW + timedelta(minutes=at),
    )


async def make_facts(url: str) -> None:
    """Make the table of the tests."""
    await _make(url, TABLES)


async def make_entities(url: str) -> None:
    """Make the tables of the entities of the contracts."""
    await _make(url, GENERATED)


async def _make(url: str, tables: Mapping[str, Table]) -> None:
    engines = engines_at(url)
    async with engines.writer.begin() as connection:
        for table in tables.values():
            await connection.run_sync(table.create)
    await engines.dispose()


@asynccontextmanager
async def with_entities(url: str) -> AsyncIterator[Database]:
    """The database at `url` with the tables of the contracts, which a server has already."""
    database = Database(engines_at(url), SystemClock())
    try:
        if not database.engines.is_postgres:
            async with database.engines.writer.begin() as connection:
                for table in GENERATED.values():
                    await connection.run_sync(table.create)
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def emptied(url: str) -> AsyncIterator[Database]:
    """The database at `url` with an empty table."""
    database = Database(engines_at(url), SystemClock())
    try:
        async with database.engines.writer.begin() as connection:
            await connection.run_sync(TABLE.metadata.create_all)
            await connection.execute(TABLE.delete())
        yield database
    finally:
        await database.close()


async def write(database: Database, *changes: EntityChange, now: datetime = NOW) -> None:
    async def change(connection: AsyncConnection, _: datetime) -> None:
        await write_entities(connection, TABLES, changes, now)

    await database.write(change)
