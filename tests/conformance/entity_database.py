"""A database with one table of entities, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import SystemClock
from gateway.store.records import EntityChange
from gateway.store.sql.database import Database
from gateway.store.sql.engines import engines_at
from gateway.store.sql.entities.rows import write_entities
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
