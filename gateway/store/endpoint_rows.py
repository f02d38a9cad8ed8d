"""Endpoints and their deliveries as rows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, RowMapping, Select, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gateway.store.event_rows import StoreClock, stored_event
from gateway.store.failures import failures
from gateway.store.records import (
    Delivery,
    DeliveryOutcome,
    Endpoint,
    Job,
    JobState,
    Page,
)
from gateway.store.tables_events import DELIVERIES, ENDPOINTS, EVENTS
from gateway.store.tables_jobs import JOBS


async def note_outcome(
    connection: AsyncConnection, outcome: DeliveryOutcome, now: datetime
) -> None:
    """Write what an attempt says of its endpoint, with the caller's transaction.

    A success ends a row of failures, a failure begins one; the first reason to disable stays.
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


class SqlEndpoints:
    """The tables `endpoints` and `deliveries`."""

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine, clock: StoreClock) -> None:
        self._reader = reader
        self._writer = writer
        self._clock = clock

    async def add(self, endpoint: Endpoint) -> None:
        row = _encoded(msgspec.structs.asdict(endpoint))
        async with failures(), self._writer.begin() as connection:
            await connection.execute(ENDPOINTS.insert(), row)

    async def find(self, endpoint_id: str) -> Endpoint | None:
        sought = select(ENDPOINTS).where(ENDPOINTS.c.id == endpoint_id)
        async with failures(), self._reader.connect() as connection:
            row = (await connection.execute(sought)).mappings().one_or_none()
        return None if row is None else _endpoint(row)

    async def all(self) -> list[Endpoint]:
        """Oldest first."""
        oldest_first = select(ENDPOINTS).order_by(ENDPOINTS.c.created_at, ENDPOINTS.c.id)
        async with failures(), self._reader.connect() as connection:
            rows = (await connection.execute(oldest_first)).mappings().all()
        return [_endpoint(row) for row in rows]

    async def change(self, endpoint_id: str, values: Mapping[str, Any]) -> bool:
        async with failures(), self._writer.begin() as connection:
            now = await self._clock(connection)
            change = update(ENDPOINTS).where(ENDPOINTS.c.id == endpoint_id)
            changed = await connection.execute(
                change.values({**_encoded(values), "updated_at": now})
            )
            return changed.rowcount == 1

    async def remove(self, endpoint_id: str) -> bool:
        """Also cancels what was to be delivered; what a worker has begun finds no endpoint."""
        async with failures(), self._writer.begin() as connection:
            # First of all: this waits for a sequencer that is just giving it deliveries.
            gone = ENDPOINTS.delete().where(ENDPOINTS.c.id == endpoint_id)
            if (await connection.execute(gone)).rowcount != 1:
                return False
            now = await self._clock(connection)
            waiting = update(JOBS).where(
                JOBS.c.kind == "delivery",
                JOBS.c.lane == endpoint_id,
                JOBS.c.state.in_(("pending", "failed")),
            )
            await connection.execute(waiting.values(state="cancelled", updated_at=now))
            return True

    async def delivery(self, delivery_id: str) -> Delivery | None:
        sought = _deliveries(DELIVERIES.c.id == delivery_id)
        async with failures(), self._reader.connect() as connection:
            row = (await connection.execute(sought)).mappings().one_or_none()
        return None if row is None else _delivery(row)

    async def deliveries(
        self, endpoint_id: str, page: Page, *, state: JobState | None = None
    ) -> list[Delivery]:
        conditions = [DELIVERIES.c.endpoint_id == endpoint_id]
        if page.after is not None:
            conditions.append(DELIVERIES.c.id < page.after)
        if state is not None:
            conditions.append(JOBS.c.state == state)
        newest_first = _deliveries(*conditions).order_by(DELIVERIES.c.id.desc()).limit(page.limit)
        async with failures(), self._reader.connect() as connection:
            rows = (await connection.execute(newest_first)).mappings().all()
        return [_delivery(row) for row in rows]


def _encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns for members of the record."""
    row = dict(values)
    if "event_types" in row:
        row["event_types"] = msgspec.json.encode(row["event_types"]).decode()
    return row


def _endpoint(row: RowMapping) -> Endpoint:
    types = tuple(msgspec.json.decode(row["event_types"]))
    return Endpoint(**{**row, "event_types": types})


def _deliveries(*conditions: ColumnElement[bool]) -> Select[Any]:
    columns = [column.label(f"event_{column.name}") for column in EVENTS.columns]
    columns += [column.label(f"job_{column.name}") for column in JOBS.columns]
    return (
        select(DELIVERIES.c.id, DELIVERIES.c.endpoint_id, *columns)
        .join(EVENTS, EVENTS.c.id == DELIVERIES.c.event_id)
        .join(JOBS, JOBS.c.id == DELIVERIES.c.job_id)
        .where(*conditions)
    )


def _delivery(row: RowMapping) -> Delivery:
    members = {name: row[f"job_{name}"] for name in Job.__struct_fields__}
    return Delivery(
        id=row["id"],
        endpoint_id=row["endpoint_id"],
        event=stored_event(row, "event_"),
        job=Job(**members),
    )
