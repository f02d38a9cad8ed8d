"""Endpoints and their deliveries in tables.

An endpoint that was unreachable for days may have hundreds of thousands of waiting deliveries. One
statement that ends all of them would stop the event loop on SQLite, and lock all rows on
PostgreSQL. So they end in small batches. If the process dies between two batches, some deliveries
still wait. A worker that claims one of them finds that its endpoint is disabled, and ends it.

What is done for each delivery, or for many, is SQLAlchemy Core.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    FromClause,
    RowMapping,
    Select,
    exists,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from gateway.store.publishing import Listed
from gateway.store.records import (
    ENDPOINT_DISABLED,
    Delivery,
    DeliveryOutcome,
    Endpoint,
    Job,
    JobState,
    Page,
)
from gateway.store.sql.database import Database
from gateway.store.sql.events import stored_event
from gateway.store.sql.statements import as_json, read_page
from gateway.store.tables import (
    DELIVERIES,
    ENDPOINTS,
    EVENTS,
    JOBS,
    READY,
    EndpointRow,
    OldestReaderRow,
)

BATCH: Final = 500
"""Jobs in one transaction: a few milliseconds."""
_CANCELLED: Final[Mapping[str, Any]] = MappingProxyType({"state": "cancelled"})
"""The change when an operator decides to cancel."""
_UNDELIVERED: Final[Mapping[str, Any]] = MappingProxyType(
    {"state": "dead_letter", "error": ENDPOINT_DISABLED}
)
"""No operator decided this. So they are dead letters, which operators can find and redrive."""
_IS_DISABLED: Final = exists().where(ENDPOINTS.c.id == JOBS.c.lane, ENDPOINTS.c.state == "disabled")
_headers = msgspec.json.Decoder(dict[str, bytes])
_NEWER: Final = frozenset({"filter", "headers"})
"""What decides on deliveries and what the gateways of older revisions ignore."""
_NEWER_SINCE: Final = "0019"


class SqlEndpoints:
    """The tables `endpoints` and `deliveries`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, endpoint: Endpoint) -> None:
        values = _encoded(msgspec.structs.asdict(endpoint))

        async def insert(session: AsyncSession, _: datetime) -> None:
            session.add(EndpointRow(**values))
            await _refuse_older(session, values)

        await self._database.change(insert)

    async def find(self, endpoint_id: str) -> Endpoint | None:
        rows = await self._database.rows(ENDPOINTS.select().where(ENDPOINTS.c.id == endpoint_id))
        return _endpoint(rows[0]) if rows else None

    async def all(self) -> list[Endpoint]:
        """Oldest first."""
        by_age = select(EndpointRow).order_by(col(EndpointRow.created_at), col(EndpointRow.id))
        return [_endpoint(row.model_dump()) for row in await self._database.models(by_age)]

    async def change(
        self, endpoint_id: str, values: Mapping[str, Any], expected: Mapping[str, Any] = {}
    ) -> bool:
        new, old = _encoded(values), _encoded(expected)

        async def change(session: AsyncSession, now: datetime) -> datetime | None:
            # It does not wait for a sequencer that is adding deliveries.
            row = await session.get(EndpointRow, endpoint_id, with_for_update={"key_share": True})
            if row is None or any(getattr(row, name) != value for name, value in old.items()):
                return None
            row.sqlmodel_update({**new, "updated_at": now})
            await _refuse_older(session, new)
            return now

        changed = await self._database.change(change)
        if changed is not None and new.get("state") == "disabled":
            await cancel_waiting(self._database, endpoint_id, changed)
        return changed is not None

    async def remove(self, endpoint_id: str) -> bool:
        async def forget(session: AsyncSession, now: datetime) -> datetime | None:
            # It waits for such a sequencer, so that `cancel_waiting` finds all deliveries.
            row = await session.get(EndpointRow, endpoint_id, with_for_update=True)
            if row is not None:
                await session.delete(row)
            return None if row is None else now

        removed = await self._database.change(forget)
        if removed is not None:
            await cancel_waiting(self._database, endpoint_id, removed)
        return removed is not None

    async def delivery(self, delivery_id: str) -> Delivery | None:
        rows = await self._database.rows(_deliveries(DELIVERIES.c.id == delivery_id))
        return _delivery(rows[0]) if rows else None

    async def deliveries(
        self, endpoint_id: str, page: Page, *, state: JobState | None = None
    ) -> Listed[Delivery]:
        indexed = [DELIVERIES.c.endpoint_id == endpoint_id]
        if page.after is not None:
            indexed.append(DELIVERIES.c.id < page.after)
        newest = _deliveries(*indexed).order_by(DELIVERIES.c.id.desc())

        def rest(read: FromClause) -> Sequence[ColumnElement[bool]]:
            return [] if state is None else [read.c.job_state == state]

        rows, last = await self._database.read(lambda to: read_page(to, newest, rest, page.limit))
        return Listed(map(_delivery, rows), last)


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


async def note_outcome(
    connection: AsyncConnection, outcome: DeliveryOutcome, now: datetime
) -> None:
    """Update the endpoint after an attempt, in the caller's transaction.

    A success ends a series of failures, the first failure starts one. The first reason to disable
    is kept. When the endpoint is disabled, `end_undelivered` ends its waiting deliveries after this
    transaction.
    """
    this = ENDPOINTS.c.id == outcome.endpoint_id
    healthy = ENDPOINTS.c.failing_since.is_(None)
    change = update(ENDPOINTS).where(this, ~healthy if outcome.is_success else healthy)
    failing_since = None if outcome.is_success else now
    await connection.execute(change.values(failing_since=failing_since, updated_at=now))
    if outcome.disable_because is not None:
        active = update(ENDPOINTS).where(this, ENDPOINTS.c.state == "active")
        because = outcome.disable_because
        await connection.execute(
            active.values(state="disabled", disabled_because=because, updated_at=now)
        )


async def _refuse_older(session: AsyncSession, values: Mapping[str, Any]) -> None:
    """Let no gateway open the database that does not know `_NEWER`, if one of them has a value."""
    if any(values.get(name) for name in _NEWER):
        oldest = await session.get(OldestReaderRow, "store", with_for_update=True)
        if oldest is not None:
            oldest.revision = max(oldest.revision, _NEWER_SINCE)


def _encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The members of the record as values of columns."""
    row = dict(values)
    if "event_types" in row:
        row["event_types"] = as_json(row["event_types"])
    for name in _NEWER & row.keys():
        row[name] = as_json(row[name]) if row[name] else None
    return row


def _endpoint(row: Mapping[Any, Any]) -> Endpoint:
    types = tuple(msgspec.json.decode(row["event_types"]))
    content = msgspec.json.decode(row["filter"]) if row["filter"] else None
    headers = _headers.decode(row["headers"] or "{}")
    return Endpoint(**{**row, "event_types": types, "filter": content, "headers": headers})


def _deliveries(*conditions: ColumnElement[bool]) -> Select[Any]:
    columns = [column.label(f"event_{column.name}") for column in EVENTS.columns]
    columns += [column.label(f"job_{column.name}") for column in JOBS.columns]
    return (
        DELIVERIES.select()
        .with_only_columns(DELIVERIES.c.id, DELIVERIES.c.endpoint_id, *columns)
        .join(EVENTS, EVENTS.c.id == DELIVERIES.c.event_id)
        .join(JOBS, JOBS.c.id == DELIVERIES.c.job_id)
        .where(*conditions)
    )


def _delivery(row: RowMapping | Mapping[str, Any]) -> Delivery:
    members = {name: row[f"job_{name}"] for name in Job.__struct_fields__}
    return Delivery(
        id=row["id"],
        endpoint_id=row["endpoint_id"],
        event=stored_event(row, "event_"),
        job=Job(**members),
    )
