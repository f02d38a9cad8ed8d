"""Ends all waiting deliveries of an endpoint, in small batches.

An endpoint that was unreachable for days may have hundreds of thousands of them. One statement for
all would stop the event loop on SQLite, and lock all rows on PostgreSQL. If the process dies
between two batches, some deliveries still wait. A worker that claims one of them finds that its
endpoint is disabled, and ends it.
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
"""The change when an operator decides to cancel."""
_UNDELIVERED: Final[Mapping[str, Any]] = MappingProxyType(
    {"state": "dead_letter", "error": ENDPOINT_DISABLED}
)
"""No operator decided this. So they are dead letters, which operators can find and redrive."""


_IS_DISABLED: Final = exists().where(ENDPOINTS.c.id == JOBS.c.lane, ENDPOINTS.c.state == "disabled")


async def cancel_waiting(database: Database, endpoint_id: str, before: datetime) -> None:
    """Cancel the deliveries that waited for the endpoint `before` that time. Raises `StoreError`.

    A running delivery goes on and checks the endpoint itself. Newer deliveries are not affected.
    """
    await _end(database, endpoint_id, _CANCELLED, JOBS.c.created_at <= before)


async def end_undelivered(database: Database, endpoint_id: str) -> None:
    """End the waiting deliveries of the endpoint while it is disabled. Raises `StoreError`."""
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
