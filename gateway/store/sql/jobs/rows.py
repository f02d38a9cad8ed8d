"""Jobs and their attempts as rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import ColumnElement, FromClause, Select, TextClause, and_, exists, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import JobKind
from gateway.store.records import Attempt, Claim, Failure, Job
from gateway.store.tables.jobs import JOB_ATTEMPTS, JOBS

ENDED: Final = ("completed", "dead_letter", "cancelled")
_REPLAY: Final = JOBS.alias("replay")
IDLE: Final = ("pending", "retryable", "quarantined", "waiting")
"""The states of jobs that have not ended and do not run."""
JOB_COLUMNS: Final = tuple(JOBS.c[name] for name in Job.__struct_fields__)
ATTEMPT_COLUMNS: Final = tuple(JOB_ATTEMPTS.c[name] for name in Attempt.__struct_fields__)
_NOT_STARTED: Final = {
    "owner": "",
    "attempts": 0,
    "claimed_at": None,
    "lease_until": None,
    "claim_seq": 0,
    "claimed_by": None,
    "error": None,
    "replay_of": None,
    "actor": None,
    "trace": None,
}


class Ending(Struct, frozen=True):
    """How an attempt ended."""

    outcome: str
    failure: Failure | None = None


def new_job(
    job_id: str, kind: JobKind, subject: str, lane: str, attempts: int, now: datetime
) -> dict[str, Any]:
    """The row of a job that is due at once and may be tried `attempts` times."""
    return {
        **_NOT_STARTED,
        "id": job_id,
        "kind": kind,
        "subject": subject,
        "lane": lane,
        "state": "pending",
        "max_attempts": attempts,
        "run_at": now,
        "created_at": now,
        "updated_at": now,
    }


def job_of(row: Mapping[Any, Any], prefix: str = "") -> Job:
    """The job of a row. Its columns may have a prefix."""
    return Job(**{name: row[f"{prefix}{name}"] for name in Job.__struct_fields__})


def is_held(claims: Sequence[Claim]) -> ColumnElement[bool]:
    """The condition that a job is still held by one of `claims`."""
    if len(claims) == 1:
        job = claims[0].job
        shown = and_(JOBS.c.id == job.id, JOBS.c.claim_seq == job.claim_seq)
    else:
        pairs = [(claim.job.id, claim.job.claim_seq) for claim in claims]
        shown = tuple_(JOBS.c.id, JOBS.c.claim_seq).in_(pairs)
    return and_(JOBS.c.state == "processing", shown)


async def lock_in_order(connection: AsyncConnection, claims: Sequence[Claim]) -> None:
    """Lock the jobs of several claims on PostgreSQL, always in the same order.

    Otherwise there could be a deadlock between a heartbeat and the end of the same jobs.
    """
    if len(claims) > 1 and connection.dialect.name == "postgresql":
        ids = select(JOBS.c.id).where(JOBS.c.id.in_([claim.job.id for claim in claims]))
        await connection.execute(ids.order_by(JOBS.c.id).with_for_update())


def is_last(job: FromClause) -> ColumnElement[bool]:
    """The condition that a job was not started again."""
    # Comparing the subject is redundant, but it has an index.
    return ~exists().where(_REPLAY.c.subject == job.c.subject, _REPLAY.c.replay_of == job.c.id)


def jobs_where(*conditions: ColumnElement[bool] | TextClause) -> Select[Any]:
    """Select the jobs that meet all conditions."""
    return select(*JOB_COLUMNS).where(*conditions)


async def note_attempts(
    connection: AsyncConnection, jobs: Sequence[Mapping[Any, Any]], ending: Ending, now: datetime
) -> None:
    """Store how the claimed attempts of these rows of `jobs` ended."""
    failure = ending.failure
    rows = [
        {
            "job_id": job["id"],
            "claim_seq": job["claim_seq"],
            "worker": job["claimed_by"],
            "started_at": job["claimed_at"],
            "ended_at": now,
            "outcome": ending.outcome,
            "error": None if failure is None else failure.error,
            "detail": None if failure is None else failure.detail,
        }
        for job in jobs
    ]
    if rows:
        await connection.execute(JOB_ATTEMPTS.insert(), rows)
