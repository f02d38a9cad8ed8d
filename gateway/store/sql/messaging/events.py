"""Writes events as rows, and reads them back."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Executable, RowMapping, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.event import is_type_meant
from gateway.contract.values.schema import Validator
from gateway.ids import uuid7
from gateway.store.records import NewEvent, StoredEvent
from gateway.store.sql.jobs.rows import new_job
from gateway.store.sql.statements import as_json, insert_into
from gateway.store.tables.events import EVENTS

_log: Final = logging.getLogger(__name__)


class EventFilter(Struct, frozen=True):
    """Which events an endpoint wants."""

    types: tuple[str, ...]
    """Types, or prefixes that end with `*`. Empty means all types."""
    content: Validator | None
    """What the data must meet. None: any data."""

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> "EventFilter":
        """The filter of a row of `endpoints`."""
        types = tuple(msgspec.json.decode(row["event_types"]))
        return cls(types, _content(row["filter"]) if row["filter"] else None)

    def admits_type(self, event_type: str) -> bool:
        """Whether events of this type are wanted."""
        return not self.types or any(is_type_meant(each, event_type) for each in self.types)

    def admits_data(self, data: Any) -> bool:
        """Whether an event with these data is wanted, if its type is."""
        return self.content is None or self.content.admits(data)


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


async def fetch_data(connection: AsyncConnection, event_ids: Sequence[str]) -> dict[str, Any]:
    """The data of these events by id."""
    query = select(EVENTS.c.id, EVENTS.c.data).where(EVENTS.c.id.in_(event_ids))
    return {
        row["id"]: msgspec.json.decode(row["data"]) for row in await fetch_rows(query, connection)
    }


def new_delivery(
    endpoint_id: str, event_id: str, attempts: int, now: datetime
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The rows of a delivery and of its job."""
    delivery_id, job_id = uuid7(now), uuid7(now)
    delivery = {
        "id": delivery_id,
        "endpoint_id": endpoint_id,
        "event_id": event_id,
        "job_id": job_id,
        "created_at": now,
    }
    return delivery, new_job(job_id, "delivery", delivery_id, endpoint_id, attempts, now)


def is_meant(column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """`is_type_meant` in SQL. It does not use LIKE, which ignores case on SQLite."""
    if pattern.endswith("*"):
        beginning = pattern[:-1]
        return func.substr(column, 1, len(beginning)) == beginning
    return column == pattern


@lru_cache(maxsize=1024)
def _content(text: str) -> Validator:
    try:
        return Validator(msgspec.json.decode(text))
    except ValueError:
        # It was checked when it was stored. One endpoint must not keep events from all others.
        _log.error("a filter of endpoints is not valid any more, so nothing meets it: %s", text)
        return Validator(False)
