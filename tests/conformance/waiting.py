"""Until a statement waits for what another transaction has locked."""

import asyncio
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.sql.store import SqlStore
from tests.eventually import eventually

_WAITS = text(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
)
_TURNS = 50


async def blocked(store: SqlStore, work: asyncio.Task[Any]) -> None:
    """Return when `work` waits for a lock, or has ended without one.

    Without a server, transactions are made one after the other: then only let others begin to wait
    for their turn.
    """
    if not store.database.is_postgres:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        return

    async def look() -> Any:
        if work.done():
            return True

        async def read(connection: AsyncConnection) -> Any:
            return (await connection.execute(_WAITS)).scalar()

        return await store.database.read(read)

    await eventually(look)
