"""Starts jobs that have ended again, as new jobs, and replays events to an endpoint in this way.

The old job is not changed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import RowMapping, Select, bindparam, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.ids import first_id, uuid7
from gateway.store import publishing
from gateway.store.publishing import Replay, Replayed, ReplayPoint
from gateway.store.records import Job
from gateway.store.sql.jobs.rows import ENDED, job_of, jobs_where, new_job
from gateway.store.sql.messaging.events import (
    EventFilter,
    fetch_data,
    fetch_rows,
    is_meant,
    new_delivery,
)
from gateway.store.sql.messaging.retention import FORGOTTEN_ARGUMENTS
from gateway.store.sql.statements import go_one_by_one
from gateway.store.tables.events import DELIVERIES, ENDPOINTS, EVENTS
from gateway.store.tables.jobs import CALLS, JOBS
from gateway.store.tables.webhooks import WEBHOOKS

_SUBJECTS = {"webhook": WEBHOOKS, "delivery": DELIVERIES}
REPLAYED_AT_ONCE: Final = 500
"""The most events for which one transaction of a replay adds jobs."""


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


async def redrive_job(
    connection: AsyncConnection, now: datetime, job_id: str, actor: str, *, is_forced: bool
) -> Job | None:
    """See `Queue.redrive`."""
    job = await _found(connection, job_id)
    if job is None or not await _may_repeat(connection, job, is_forced=is_forced):
        return None
    row = {
        **new_job(uuid7(now), job.kind, job.subject, job.lane, job.max_attempts, now),
        "replay_of": job.id,
        "actor": actor,
        "trace": job.trace,
    }
    if not await _point_to(connection, job, str(row["id"])):
        return None
    await connection.execute(JOBS.insert(), row)
    return await _found(connection, str(row["id"]))


async def _found(connection: AsyncConnection, job_id: str) -> Job | None:
    row = (await connection.execute(jobs_where(JOBS.c.id == job_id))).mappings().one_or_none()
    return None if row is None else job_of(row)


async def _may_repeat(connection: AsyncConnection, job: Job, *, is_forced: bool) -> bool:
    """Whether all jobs of the same subject have ended, and none has succeeded unless forced."""
    same = select(JOBS.c.state).where(JOBS.c.subject == job.subject, JOBS.c.kind == job.kind)
    # A concurrent redrive waits here. Only the next statement sees the job that it added.
    await connection.execute(same.order_by(JOBS.c.id).with_for_update())
    states = frozenset((await connection.execute(same)).scalars())
    return states <= frozenset(ENDED) and (is_forced or "completed" not in states)


async def _point_to(connection: AsyncConnection, job: Job, newest: str) -> bool:
    """Set the newest job of the subject. Returns whether the subject still exists."""
    if job.kind == "call":
        return await _has_arguments(connection, job.subject)
    table = _SUBJECTS.get(job.kind)
    if table is None:
        # Only its owner may make the call of a task again.
        return False
    change = update(table).where(table.c.id == job.subject)
    if table is WEBHOOKS:
        change = change.where(WEBHOOKS.c.body.is_not(None))
    return (await connection.execute(change.values(job_id=newest))).rowcount == 1


async def _has_arguments(connection: AsyncConnection, call_id: str) -> bool:
    """Whether the call's arguments are still kept. They are locked until this transaction ends."""
    kept = select(CALLS.c.id).where(CALLS.c.id == call_id, CALLS.c.arguments != FORGOTTEN_ARGUMENTS)
    return (await connection.execute(kept.with_for_update())).first() is not None


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
