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

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.records import ENDPOINT_DISABLED
from gateway.store.sql.database import Database
from gateway.store.tables.events import ENDPOINTS
from gateway.store.tables.jobs import JOBS, READY

BATCH: Final = 500
"""Jobs in one transaction: a few milliseconds."""
_CANCELLED: Final[Mapping[str, Any]] = MappingProxyType({"state": "cancelled"})
"""What an operator decides."""
_UNDELIVERED: Final[Mapping[str, Any]] = MappingProxyType(
    {"state": "dead_letter", "error": ENDPOINT_DISABLED}
)
"""Nobody decided that these are not wanted: they are found, and redriven, as dead letters."""


_IS_DISABLED: Final = exists().where(ENDPOINTS.c.id == JOBS.c.lane, ENDPOINTS.c.state == "disabled")


async def cancel_waiting(database: Database, endpoint_id: str, before: datetime) -> None:
    """Cancel what waited for the endpoint at that moment. Raises `StoreError`.

    What a worker has begun goes on, and finds out by itself; what has come since was not meant.
    """
    await _end(database, endpoint_id, _CANCELLED, JOBS.c.created_at <= before)


async def end_undelivered(database: Database, endpoint_id: str) -> None:
    """End what waits for the endpoint for as long as it is disabled. Raises `StoreError`."""
    await _end(database, endpoint_id, _UNDELIVERED, _IS_DISABLED)


async def _end(
    database: Database, endpoint_id: str, values: Mapping[str, Any], is_meant: ColumnElement[bool]
) -> None:

    async def end_some(connection: AsyncConnection, now: datetime) -> int:
        some = (
            select(JOBS.c.id)
            .where(
                READY,
                JOBS.c.kind == "delivery",
                JOBS.c.lane == endpoint_id,
                is_meant,
            )
            .order_by(JOBS.c.run_at, JOBS.c.id)
            .limit(BATCH)
            .with_for_update(skip_locked=True)
        )
        change = update(JOBS).where(JOBS.c.id.in_(some.cte("some").select()))
        return (await connection.execute(change.values({**values, "updated_at": now}))).rowcount

    while await database.write(end_some) == BATCH:
        pass
