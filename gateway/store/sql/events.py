"""The log of events: gives events their order, reads them in this order, and replays them.

Every follower reads it: the statements are SQLAlchemy Core.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from itertools import takewhile
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    RowMapping,
    Select,
    Update,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.event import is_type_meant
from gateway.contract.values.schema import Validator
from gateway.ids import first_id, uuid7
from gateway.job_policy import WorkPolicy
from gateway.store import publishing
from gateway.store.publishing import Replay, Replayed, ReplayPoint, looked_up_to
from gateway.store.records import NewEvent, StoredEvent
from gateway.store.sql.database import Database
from gateway.store.sql.jobs import ENDED, new_job
from gateway.store.sql.plans import Row
from gateway.store.sql.sqlite import run, run_each
from gateway.store.sql.statements import as_json, go_one_by_one, insert_into
from gateway.store.tables import ANNOUNCED, DELIVERIES, ENDPOINTS, EVENTS, JOBS, UNPLACED

_log: Final = logging.getLogger(__name__)
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
_NEWEST: Final = select(func.max(EVENTS.c.position).label("position"))
_ACTIVE_ENDPOINTS: Final = select(func.count().label("number")).where(ENDPOINTS.c.state == "active")
_WANTING: Final = (
    select(ENDPOINTS.c.id, ENDPOINTS.c.event_types, ENDPOINTS.c.filter)
    .where(ENDPOINTS.c.state == "active")
    .order_by(ENDPOINTS.c.id)
    .with_for_update(read=True, key_share=True)
)
_UNPLACED: Final = select(EVENTS.c.seq).where(UNPLACED).limit(1)
REPLAYED_AT_ONCE: Final = 500
"""The most events for which one transaction of a replay adds jobs."""


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


class _Known(Struct, frozen=True):
    """A delivery that was made before."""

    id: str
    job_id: str
    is_open: bool
    """Whether a job of it has not ended."""


class Chosen(Struct, frozen=True):
    """The events of a part of a replay."""

    replay: str
    events: Sequence[RowMapping]
    next: ReplayPoint | None


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
        if not await self._database.rows(_UNPLACED):
            return 0
        return await self._database.write(lambda to, now: _sequence(to, self._attempts, now, limit))

    async def after(
        self, position: int, limit: int, types: Sequence[str] = ()
    ) -> list[StoredEvent]:
        wanted = select(EVENTS).where(EVENTS.c.position > position)
        wanted = wanted.order_by(EVENTS.c.position).limit(limit)

        async def find(connection: AsyncConnection) -> Sequence[RowMapping]:
            end = looked_up_to(position, await _bounds(connection))
            meant = wanted.where(
                EVENTS.c.position <= end, or_(*(is_meant(EVENTS.c.type, each) for each in types))
            )
            return await fetch_rows(meant, connection)

        rows = await (self._database.read(find) if types else self._database.rows(wanted))
        return [stored_event(row) for row in rows]

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
        return await self._database.prune(older_than_seconds, _prune, limit)


async def insert_events(
    connection: AsyncConnection, events: Sequence[NewEvent], now: datetime
) -> None:
    """Publish `events` in the caller's transaction. An event whose id exists is not changed."""
    if events:
        # Insert them one by one, so that they are numbered in the given order.
        rows = [_row(event, now) for event in events]
        await run_each(connection, _insertion(connection.dialect.name), rows)


@cache
def _insertion(dialect: str) -> Any:
    names = ("id", "type", "subject", "source", "time", "data", "webhook_id", "trace")
    new = insert_into(dialect, EVENTS).values({name: bindparam(name) for name in names})
    return new.on_conflict_do_nothing(index_elements=["id"])


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
    endpoints = (await run(connection, _ACTIVE_ENDPOINTS))[0]["number"]
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


async def _place(connection: AsyncConnection, limit: int) -> list[Row]:
    """Number the committed events. Events that commit later come after them, at any `seq`."""
    newest = (await run(connection, _NEWEST))[0]["position"] or 0
    placed = await run(connection, _PLACING, {"at_most": limit, "newest": newest})
    return sorted(placed, key=lambda row: row["position"])


def _placing() -> Update:
    unplaced = (
        select(EVENTS.c.seq)
        .where(UNPLACED)
        .order_by(EVENTS.c.seq)
        .limit(bindparam("at_most"))
        .subquery()
    )
    number = func.row_number().over(order_by=unplaced.c.seq).label("number")
    numbered = select(unplaced.c.seq, number).subquery()
    return (
        update(EVENTS)
        .where(EVENTS.c.seq == numbered.c.seq)
        .values(position=bindparam("newest", type_=BigInteger) + numbered.c.number)
        .returning(EVENTS.c.id, EVENTS.c.type, EVENTS.c.position, EVENTS.c.trace)
    )


_PLACING: Final = _placing()


async def _deliver(
    connection: AsyncConnection, placed: list[Row], attempts: int, now: datetime
) -> None:
    """Add a delivery with its job for each event and each active endpoint that wants it.

    The endpoints are locked against removal, so that a removal finds all their deliveries.
    """
    rows = await run(connection, _WANTING)
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


async def choose_events(connection: AsyncConnection, asked: Replay, now: datetime) -> Chosen | None:
    """The next events of the replay that the endpoint wants. None if there is no such endpoint."""
    endpoint = select(ENDPOINTS).where(ENDPOINTS.c.id == asked.endpoint_id)
    rows = await fetch_rows(endpoint, connection)
    if not rows:
        return None
    wanted = EventFilter.of(rows[0])
    replay = asked.point.replay if asked.point else first_id(now)
    looked_at = _in_time(asked).limit(publishing.LOOKED_AT).subquery()
    of_types = select(looked_at).order_by(looked_at.c.time, looked_at.c.position)
    if wanted.types:
        of_types = of_types.where(or_(*(is_meant(looked_at.c.type, each) for each in wanted.types)))
    found = await fetch_rows(of_types.limit(REPLAYED_AT_ONCE), connection)
    last = found[-1:]
    if len(found) < REPLAYED_AT_ONCE:
        # If it has looked at all that it may, the next part begins after the last of those.
        ends = select(looked_at).order_by(looked_at.c.time, looked_at.c.position)
        last = await fetch_rows(ends.offset(publishing.LOOKED_AT - 1), connection)
    if wanted.content is not None:
        data = await fetch_data(connection, [event["id"] for event in found])
        found = [event for event in found if wanted.admits_data(data.get(event["id"]))]
    next_point = [
        ReplayPoint(replay=replay, time=event["time"], position=event["position"]) for event in last
    ]
    return Chosen(replay, found, next_point[0] if next_point else None)


def _in_time(asked: Replay) -> Select[Any]:
    """The published events that are left of the replay."""
    since, point = asked.since, asked.point
    query = select(EVENTS.c.id, EVENTS.c.type, EVENTS.c.time, EVENTS.c.position, EVENTS.c.trace)
    if point is not None:
        since = max(since, point.time)
        is_later = or_(EVENTS.c.time > point.time, EVENTS.c.position > point.position)
        query = query.where(is_later)
    if asked.until is not None:
        query = query.where(EVENTS.c.time < asked.until)
    return query.where(EVENTS.c.time >= since, EVENTS.c.position.is_not(None)).order_by(
        EVENTS.c.time, EVENTS.c.position
    )


async def redeliver(
    connection: AsyncConnection, asked: Replay, chosen: Chosen, attempts: int, now: datetime
) -> Replayed | None:
    """Give the endpoint jobs for the chosen events, but not for what is on its way already."""
    await go_one_by_one(connection, [f"replay {asked.endpoint_id}"])
    endpoint = select(ENDPOINTS.c.state).where(ENDPOINTS.c.id == asked.endpoint_id)
    # As in sequencing: a removal finds all deliveries.
    state = await connection.scalar(endpoint.with_for_update(read=True, key_share=True))
    if state is None:
        return None
    if state != "active":
        return Replayed(replay=chosen.replay, is_active=False)
    known = await _known(connection, asked.endpoint_id, [each["id"] for each in chosen.events])
    deliveries, jobs = [], []
    for event in chosen.events:
        made = known.get(event["id"])
        if made is None:
            delivery, job = new_delivery(asked.endpoint_id, event["id"], attempts, now)
            deliveries.append(delivery)
        elif made.is_open or made.job_id >= chosen.replay:
            continue
        else:
            job = new_job(uuid7(now), "delivery", made.id, asked.endpoint_id, attempts, now)
        replay_of = None if made is None else made.job_id
        jobs.append({**job, "replay_of": replay_of, "actor": asked.actor, "trace": event["trace"]})
    await _write(connection, deliveries, jobs)
    skipped = len(chosen.events) - len(jobs)
    return Replayed(replay=chosen.replay, started=len(jobs), skipped=skipped, next=chosen.next)


async def _write(
    connection: AsyncConnection,
    deliveries: Sequence[Mapping[str, Any]],
    jobs: Sequence[Mapping[str, Any]],
) -> None:
    """Add the deliveries and the jobs, the newest of their deliveries."""
    if deliveries:
        await connection.execute(DELIVERIES.insert(), deliveries)
    if jobs:
        await connection.execute(JOBS.insert(), jobs)
    repeated = [
        {"of": job["subject"], "newest": job["id"]} for job in jobs if job["replay_of"] is not None
    ]
    if repeated:
        this = update(DELIVERIES).where(DELIVERIES.c.id == bindparam("of"))
        await connection.execute(this.values(job_id=bindparam("newest")), repeated)


async def _known(
    connection: AsyncConnection, endpoint_id: str, event_ids: Sequence[str]
) -> dict[str, _Known]:
    """The deliveries of these events to the endpoint, by event."""
    of = (DELIVERIES.c.endpoint_id == endpoint_id, DELIVERIES.c.event_id.in_(event_ids))
    subjects = select(DELIVERIES.c.id).where(*of)
    same = select(JOBS.c.id).where(JOBS.c.kind == "delivery", JOBS.c.subject.in_(subjects))
    # As in `_may_repeat`.
    await connection.execute(same.order_by(JOBS.c.id).with_for_update())
    columns = DELIVERIES.c.id, DELIVERIES.c.event_id, DELIVERIES.c.job_id, JOBS.c.state
    states = select(*columns).join(JOBS, JOBS.c.subject == DELIVERIES.c.id).where(*of)
    known: dict[str, _Known] = {}
    for row in await fetch_rows(states, connection):
        before = known.get(row["event_id"])
        is_open = row["state"] not in ENDED or (before is not None and before.is_open)
        known[row["event_id"]] = _Known(row["id"], row["job_id"], is_open)
    return known
