"""Jobs that wait for answers of their clients. No worker holds them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.keyed import CallEnding, TaskSettlement
from gateway.store.records import Claim
from gateway.store.sql.jobs.rows import Ending, is_held, note_attempts
from gateway.store.sql.jobs.settling import settle_tasks
from gateway.store.tables.jobs import JOBS
from gateway.store.tables.tasks import TASKS
from gateway.store.tasks import AnswerTask

WAITING: Final = "waiting"


async def wait_for_answers(
    connection: AsyncConnection, claim: Claim, questions: bytes, given: bytes, now: datetime
) -> bool:
    """Let go of the job, with its questions. Its attempt does not count. False: it was not held."""
    change = (
        update(JOBS)
        .where(is_held([claim]))
        .values(
            lease_until=None,
            state=WAITING,
            attempts=JOBS.c.attempts - 1,
            error=None,
            updated_at=now,
        )
    )
    rows = (await connection.execute(change.returning(*JOBS.c))).mappings().all()
    await note_attempts(connection, rows, Ending("waiting"), now)
    if rows:
        named = TASKS.c.job_id == claim.job.id
        values = {"questions": questions, "answers": given}
        await connection.execute(update(TASKS).where(named).values(values))
    return bool(rows)


async def answer_task(
    connection: AsyncConnection, job_id: str, answer: AnswerTask, now: datetime
) -> bool:
    """Store the answers. Returns whether the job goes on: no question is open any more."""
    job = select(JOBS.c.id).where(JOBS.c.id == job_id, JOBS.c.state == WAITING)
    # The job is locked first, as everywhere.
    if (await connection.execute(job.with_for_update())).first() is None:
        return False
    columns = select(TASKS.c.questions, TASKS.c.answers).where(TASKS.c.job_id == job_id)
    row = (await connection.execute(columns)).one()
    changed = answer(row.questions or b"{}", row.answers or b"{}")
    values: Mapping[str, bytes] = {"questions": changed.questions, "answers": changed.answers}
    await connection.execute(update(TASKS).where(TASKS.c.job_id == job_id).values(values))
    # The time of the change also says that the client is still there.
    moved: dict[str, object] = {"updated_at": now}
    if changed.is_complete:
        moved |= {"state": "pending", "run_at": now}
    await connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(moved))
    return changed.is_complete


async def end_unanswered(
    connection: AsyncConnection, older_than: timedelta, limit: int, now: datetime
) -> int:
    """Cancel jobs that have waited that long. Nothing was changed by them. Returns how many."""
    some = (
        select(JOBS.c.id)
        .where(JOBS.c.kind == "task", JOBS.c.state == WAITING, JOBS.c.updated_at < now - older_than)
        .order_by(JOBS.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = (await connection.execute(some)).scalars().all()
    values = {"state": "cancelled", "actor": "expired", "updated_at": now}
    await connection.execute(update(JOBS).where(JOBS.c.id.in_(ids)).values(values))
    ended = [TaskSettlement(job_id=each, ending=CallEnding(outcome="cancelled")) for each in ids]
    await settle_tasks(connection, ended)
    return len(ids)
