"""Writes events as rows, and reads them back."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Executable, RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.records import NewEvent, StoredEvent
from gateway.store.sql.statements import as_json, insert_into
from gateway.store.tables.events import EVENTS


async def insert_events(
    connection: AsyncConnection, events: Sequence[NewEvent], now: datetime
) -> None:
    """Publish `events` in the caller's transaction. An event whose id exists is not changed."""
    if events:
        # Insert them one by one, so that they are numbered in the given order.
        insertion = insert_into(connection, EVENTS).on_conflict_do_nothing(index_elements=["id"])
        await connection.execute(insertion, [_row(event, now) for event in events])


async def fetch_rows(query: Executable, connection: AsyncConnection) -> Sequence[RowMapping]:
    """The rows of `query`, each as values by column."""
    return (await connection.execute(query)).mappings().all()


def stored_event(row: Mapping[Any, Any], prefix: str = "") -> StoredEvent:
    """The event of a row. Its columns may have a prefix."""
    return StoredEvent(
        position=row[f"{prefix}position"],
        id=row[f"{prefix}id"],
        type=row[f"{prefix}type"],
        subject=row[f"{prefix}subject"],
        source=row[f"{prefix}source"],
        time=row[f"{prefix}time"],
        data=msgspec.json.decode(row[f"{prefix}data"]),
        webhook_id=row[f"{prefix}webhook_id"],
        trace=row[f"{prefix}trace"],
    )


def _row(event: NewEvent, now: datetime) -> dict[str, Any]:
    return {
        "id": event.id,
        "type": event.type,
        "subject": event.subject,
        "source": event.source,
        "time": now,
        "data": as_json(event.data),
        "webhook_id": event.webhook_id,
        "trace": event.trace,
    }
