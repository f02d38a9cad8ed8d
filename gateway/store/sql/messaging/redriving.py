"""Starts jobs that have ended again, as new jobs. The old job is not changed."""

from datetime import datetime

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.ids import uuid7
from gateway.store.records import Job
from gateway.store.sql.jobs.rows import ENDED, job_of, jobs_where, new_job
from gateway.store.sql.messaging.retention import FORGOTTEN_ARGUMENTS
from gateway.store.tables.events import DELIVERIES
from gateway.store.tables.jobs import CALLS, JOBS
from gateway.store.tables.webhooks import WEBHOOKS

_SUBJECTS = {"webhook": WEBHOOKS, "delivery": DELIVERIES}


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
