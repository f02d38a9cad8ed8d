"""The log of events: gives events their order, and reads them in this order."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

from sqlalchemy import (
    RowMapping,
    Select,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import WorkPolicy
from gateway.store.publishing import Replay, Replayed, looked_up_to
from gateway.store.records import NewEvent, StoredEvent
from gateway.store.sql.database import Database
from gateway.store.sql.messaging.events import (
    EventFilter,
    fetch_data,
    fetch_rows,
    insert_events,
    is_meant,
    new_delivery,
    stored_event,
)
from gateway.store.sql.messaging.redriving import Chosen, choose_events, redeliver
from gateway.store.tables.events import ANNOUNCED, DELIVERIES, ENDPOINTS, EVENTS
from gateway.store.tables.jobs import JOBS

_DELIVERIES: Final = 2_000
"""About how many rows of deliveries one transaction adds or removes."""
_LOCK: Final = 0x67774576
"""PostgreSQL's advisory lock of the sequencer."""
_OPEN: Final = ("pending", "processing", "retryable")
# Not EXISTS: PostgreSQL would join it, and read all jobs.
_IS_OPEN: Final = (
    select(JOBS.c.state).where(JOBS.c.id == DELIVERIES.c.job_id).scalar_subquery().in_(_OPEN)
)
"""The condition that a delivery is pending. It has a job."""


class SqlEventLog:
    """The table `events`. An event is published when it has a position."""

    def __init__(self, database: Database, policy: WorkPolicy) -> None:
        self._database = database
        self._attempts = policy.jobs["delivery"].attempts

    async def append(self, events: Sequence[NewEvent]) -> None:
        if events:
            await self._database.write(lambda to, now: insert_events(to, events, now))

    async def sequence(self, limit: int) -> int:
        # Check first without the write lock: most of the time there is nothing to do.
        if not await self._database.read(_has_unplaced):
            return 0
        return await self._database.write(lambda to, now: _sequence(to, self._attempts, now, limit))

    async def after(
        self, position: int, limit: int, types: Sequence[str] = ()
    ) -> list[StoredEvent]:
        wanted = select(EVENTS).where(EVENTS.c.position > position)
        wanted = wanted.order_by(EVENTS.c.position).limit(limit)

        async def find(connection: AsyncConnection) -> Sequence[RowMapping]:
            if not types:
                return await fetch_rows(wanted, connection)
            end = looked_up_to(position, await _bounds(connection))
            meant = wanted.where(
                EVENTS.c.position <= end, or_(*(is_meant(EVENTS.c.type, each) for each in types))
            )
            return await fetch_rows(meant, connection)

        return [stored_event(row) for row in await self._database.read(find)]

    async def announced(self) -> StoredEvent | None:
        last = select(EVENTS).where(ANNOUNCED, EVENTS.c.position.is_not(None))
        last = last.order_by(EVENTS.c.position.desc()).limit(1)
        rows = await self._database.rows(last)
        return stored_event(rows[0]) if rows else None

    async def bounds(self) -> tuple[int, int]:
        return await self._database.read(_bounds)

    async def replay(self, asked: Replay) -> Replayed | None:
        async def choose(connection: AsyncConnection) -> Chosen | None:
            return await choose_events(connection, asked, await self._database.now(connection))

        chosen = await self._database.read(choose)
        if chosen is None:
            return None
        return await self._database.write(
            lambda to, now: redeliver(to, asked, chosen, self._attempts, now)
        )

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove events from the oldest up to the first that must stay, so the log has no gaps.

        The newest event always stays, because the next position is counted from it.
        """
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: _prune(to, now - age, limit))


async def _has_unplaced(connection: AsyncConnection) -> bool:
    unplaced = select(EVENTS.c.seq).where(EVENTS.c.position.is_(None)).limit(1)
    return (await connection.execute(unplaced)).first() is not None


async def _bounds(connection: AsyncConnection) -> tuple[int, int]:
    # Two queries read only the ends of the index. One query with both would read all of it.
    oldest = select(func.min(EVENTS.c.position)).scalar_subquery()
    newest = select(func.max(EVENTS.c.position)).scalar_subquery()
    found = (await connection.execute(select(oldest, newest))).one()
    return (1, 0) if found[0] is None else (found[0], found[1])


async def _prune(connection: AsyncConnection, before: datetime, limit: int) -> int:
    rows = await fetch_rows(_oldest(limit), connection)
    old = takewhile(lambda row: row["time"] < before and not row["is_open"], rows)
    ids = _with_few_deliveries(old)
    if not ids:
        return 0
    # A delivery may have been started again meanwhile. This waits for its row. Only a later
    # statement sees the change.
    theirs = select(DELIVERIES.c.id).where(DELIVERIES.c.event_id.in_(ids)).order_by(DELIVERIES.c.id)
    await connection.execute(theirs.with_for_update())
    ended = delete(DELIVERIES).where(DELIVERIES.c.event_id.in_(ids), ~_IS_OPEN)
    await connection.execute(ended)
    kept = select(DELIVERIES.c.event_id).where(DELIVERIES.c.event_id.in_(ids))
    needed = set((await connection.execute(kept)).scalars())
    free = [*takewhile(lambda event_id: event_id not in needed, ids)]
    await connection.execute(delete(EVENTS).where(EVENTS.c.id.in_(free)))
    return len(free)


def _with_few_deliveries(rows: Iterable[RowMapping]) -> list[str]:
    """The first ids whose deliveries one transaction can remove. At least one."""
    ids: list[str] = []
    deliveries = 0
    for row in rows:
        deliveries += row["deliveries"]
        if ids and deliveries > _DELIVERIES:
            break
        ids.append(row["id"])
    return ids


async def _sequence(connection: AsyncConnection, attempts: int, now: datetime, limit: int) -> int:
    if not await _is_alone(connection):
        return 0
    active = select(func.count()).where(ENDPOINTS.c.state == "active")
    endpoints = await connection.scalar(active) or 0
    # Each event gives one delivery for each endpoint, so the transaction grows with the product.
    placed = await _place(connection, max(1, min(limit, _DELIVERIES // max(1, endpoints))))
    if placed:
        await _deliver(connection, placed, attempts, now)
    return len(placed)


async def _is_alone(connection: AsyncConnection) -> bool:
    """Whether this transaction is the only one that gives positions until it ends.

    This is a separate statement. So the snapshot of the next statement includes everything that the
    previous sequencer committed.
    """
    if connection.dialect.name != "postgresql":
        return True  # SQLite has only one write transaction at a time
    return bool(await connection.scalar(select(func.pg_try_advisory_xact_lock(_LOCK))))


async def _place(connection: AsyncConnection, limit: int) -> list[RowMapping]:
    """Number the committed events. Events that commit later come after them, at any `seq`."""
    unplaced = (
        select(EVENTS.c.seq)
        .where(EVENTS.c.position.is_(None))
        .order_by(EVENTS.c.seq)
        .limit(limit)
        .subquery()
    )
    number = func.row_number().over(order_by=unplaced.c.seq).label("number")
    numbered = select(unplaced.c.seq, number).subquery()
    newest = await connection.scalar(select(func.max(EVENTS.c.position))) or 0
    placing = (
        update(EVENTS)
        .where(EVENTS.c.seq == numbered.c.seq)
        .values(position=newest + numbered.c.number)
        .returning(EVENTS.c.id, EVENTS.c.type, EVENTS.c.position, EVENTS.c.trace)
    )
    return sorted(await fetch_rows(placing, connection), key=lambda row: row["position"])


async def _deliver(
    connection: AsyncConnection, placed: list[RowMapping], attempts: int, now: datetime
) -> None:
    """Add a delivery with its job for each event and each active endpoint that wants it.

    The endpoints are locked against removal, so that a removal finds all their deliveries.
    """
    active = (
        select(ENDPOINTS.c.id, ENDPOINTS.c.event_types, ENDPOINTS.c.filter)
        .where(ENDPOINTS.c.state == "active")
        .order_by(ENDPOINTS.c.id)
        .with_for_update(read=True, key_share=True)
    )
    rows = await fetch_rows(active, connection)
    data = {}
    if any(row["filter"] for row in rows):
        data = await fetch_data(connection, [event["id"] for event in placed])
    deliveries, jobs = [], []
    for endpoint in rows:
        wanted = EventFilter.of(endpoint)
        for event in placed:
            if wanted.admits_type(event["type"]) and wanted.admits_data(data.get(event["id"])):
                delivery, job = new_delivery(endpoint["id"], event["id"], attempts, now)
                deliveries.append(delivery)
                jobs.append({**job, "trace": event["trace"]})
    if jobs:
        await connection.execute(JOBS.insert(), jobs)
        await connection.execute(DELIVERIES.insert(), deliveries)


def _oldest(limit: int) -> Select[Any]:
    is_open = exists().where(DELIVERIES.c.event_id == EVENTS.c.id, _IS_OPEN)
    number = select(func.count()).where(DELIVERIES.c.event_id == EVENTS.c.id).scalar_subquery()
    newest = select(func.max(EVENTS.c.position)).scalar_subquery()
    return (
        select(EVENTS.c.id, EVENTS.c.time, is_open.label("is_open"), number.label("deliveries"))
        .where(EVENTS.c.position < newest)
        .order_by(EVENTS.c.position)
        .limit(limit)
    )
