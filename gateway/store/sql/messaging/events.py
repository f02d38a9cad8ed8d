"""Writes events as rows, and reads them back."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import Executable, RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.event import is_type_meant
from gateway.contract.values.schema import Validator
from gateway.store.records import NewEvent, StoredEvent
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


@lru_cache(maxsize=1024)
def _content(text: str) -> Validator:
    try:
        return Validator(msgspec.json.decode(text))
    except ValueError:
        # It was checked when it was stored. One endpoint must not keep events from all others.
        _log.error("a filter of endpoints is not valid any more, so nothing meets it: %s", text)
        return Validator(False)
