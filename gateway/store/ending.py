"""Ending the deliveries that wait for an endpoint: as many as there are, a few at a time.

An endpoint that was out of reach for days may have hundreds of thousands of them. One statement for
all would stop the event loop on SQLite and hold every row locked on PostgreSQL. A process that dies
between two batches leaves deliveries that still wait; a worker that takes one up finds that its
endpoint gets nothing any more, and ends it.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.database import Database
from gateway.store.records import ENDPOINT_DISABLED
from gateway.store.tables_jobs import JOBS, READY

BATCH: Final = 500
"""Jobs in one transaction: a few milliseconds."""
CANCELLED: Final[Mapping[str, Any]] = MappingProxyType({"state": "cancelled"})
"""What an operator decides."""
UNDELIVERED: Final[Mapping[str, Any]] = MappingProxyType(
    {"state": "dead_letter", "error": ENDPOINT_DISABLED}
)
"""Nobody decided that these are not wanted: they are found, and redriven, as dead letters."""


async def end_waiting(
    database: Database, endpoint_id: str, values: Mapping[str, Any], before: datetime
) -> None:
    """Give `values` to what waited for the endpoint at that moment. Raises `StoreError`.

    What a worker has begun goes on, and finds out by itself; what has come since was not meant.
    """

    async def end_some(connection: AsyncConnection, now: datetime) -> int:
        some = (
            select(JOBS.c.id)
            .where(
                READY,
                JOBS.c.kind == "delivery",
                JOBS.c.lane == endpoint_id,
                JOBS.c.created_at <= before,
            )
            .order_by(JOBS.c.run_at, JOBS.c.id)
            .limit(BATCH)
            .with_for_update(skip_locked=True)
        )
        change = update(JOBS).where(JOBS.c.id.in_(some.cte("some").select()))
        return (await connection.execute(change.values({**values, "updated_at": now}))).rowcount

    while await database.write(end_some) == BATCH:
        pass
