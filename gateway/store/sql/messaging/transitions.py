"""The transitions of claimed jobs. Each needs the claim; with a lost claim nothing is written."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, get_args

from msgspec import Struct
from sqlalchemy import RowMapping, case, select, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import JobKind
from gateway.store.records import LEASE_EXPIRED, Changes, Claim, Failure, Job
from gateway.store.sql.failures import explain, is_transient
from gateway.store.sql.jobs.rows import (
    Ending,
    is_held,
    job_of,
    jobs_where,
    lock_in_order,
    note_attempts,
)
from gateway.store.sql.messaging.changes import Target, apply_changes
from gateway.store.tables.jobs import CLAIMED, JOBS

_log: Final = logging.getLogger(__name__)
_LET_GO: Final[Mapping[str, Any]] = {"lease_until": None}
_EXPIRED: Final = Ending(LEASE_EXPIRED, Failure(error=LEASE_EXPIRED))


Shown = tuple[str, int]
"""Identifies a claim by the id of its job and its number. One job can have several claims."""


class Transition(Struct, frozen=True):
    """The next state of a job in `processing`."""

    state: str
    failure: Failure | None = None
    delay: timedelta = timedelta()

    @property
    def outcome(self) -> str:
        """The outcome of the attempt. It is a failure even if the job is tried again."""
        return "failed" if self.state == "retryable" else self.state


async def settle(
    connection: AsyncConnection,
    claims: Sequence[Claim],
    transition: Transition,
    now: datetime,
) -> frozenset[Shown]:
    """Make the transition. Returns the claims that were still held."""
    failure = transition.failure
    change = (
        update(JOBS)
        .where(is_held(claims))
        .values(
            **_LET_GO,
            state=transition.state,
            error=None if failure is None else failure.error,
            run_at=now + transition.delay,
            updated_at=now,
        )
    )
    await lock_in_order(connection, claims)
    rows = (await connection.execute(change.returning(*JOBS.c))).mappings().all()
    await note_attempts(connection, rows, Ending(transition.outcome, failure), now)
    return frozenset((row["id"], row["claim_seq"]) for row in rows)


async def take_back(
    connection: AsyncConnection, claims: Sequence[Claim], now: datetime, delay: timedelta
) -> int:
    """Let the jobs wait again as if they had not been claimed. Returns how many were still held."""
    change = (
        update(JOBS)
        .where(is_held(claims))
        .values(
            **_LET_GO,
            state=case((JOBS.c.attempts == 1, "pending"), else_="retryable"),
            attempts=JOBS.c.attempts - 1,
            run_at=now + delay,
            updated_at=now,
        )
    )
    await lock_in_order(connection, claims)
    rows = (await connection.execute(change.returning(*JOBS.c))).mappings().all()
    await note_attempts(connection, rows, Ending("released"), now)
    return len(rows)


class Sweep(Struct, frozen=True):
    """How expired claims are taken back."""

    limit: int
    backoff: timedelta
    on_dead: Callable[[Job], Changes]


async def sweep_expired(
    connection: AsyncConnection, target: Target, sweep: Sweep, now: datetime
) -> tuple[int, int]:
    """End expired claims. Returns how many jobs will be tried again, and how many dead letters."""
    await _rename_failed(connection)
    expired = await _expired(connection, sweep.limit, now)
    dead = [row for row in expired if row["attempts"] >= row["max_attempts"]]
    again = [row for row in expired if row["attempts"] < row["max_attempts"]]
    await _move(connection, again, Transition("retryable", delay=sweep.backoff), now)
    await _move(connection, dead, Transition("dead_letter"), now)
    await note_attempts(connection, expired, _EXPIRED, now)
    for row in dead:
        job = job_of({**row, "state": "dead_letter", "lease_until": None, "error": LEASE_EXPIRED})
        await _apply_what_is_taken(connection, target, job, sweep.on_dead(job), now)
    return len(again), len(dead)


async def _rename_failed(connection: AsyncConnection) -> None:
    """Rename the state `failed`, which gateways older than revision 0005 still write.

    On a server, such a gateway may run beside this one for some time. Without this, no worker would
    claim these jobs. Skips rows that the other gateway has locked; the next sweep renames them.
    """
    failed = (
        select(JOBS.c.id)
        # All kinds are listed because the index starts with the kind.
        .where(JOBS.c.kind.in_(get_args(JobKind)), JOBS.c.state == "failed")
        .with_for_update(skip_locked=True)
    )
    change = update(JOBS).where(JOBS.c.id.in_(failed.cte("failed").select()))
    await connection.execute(change.values(state="retryable"))


async def _apply_what_is_taken(
    connection: AsyncConnection, target: Target, job: Job, changes: Changes, now: datetime
) -> None:
    """Write the changes of one dead letter. If the database refuses them, other jobs go on."""
    for some in (changes, changes.without_events()):
        try:
            async with connection.begin_nested():
                await apply_changes(connection, target, [some], now)
        except DBAPIError as error:
            if is_transient(error):
                raise
            _log.error("job %s ends without all of its changes: %s", job.id, explain(error))
        else:
            return


async def _expired(connection: AsyncConnection, limit: int, now: datetime) -> Sequence[RowMapping]:
    """The expired claims. Skips rows that another sweep or a late worker has locked."""
    query = (
        jobs_where(CLAIMED, JOBS.c.lease_until < now)
        .add_columns(JOBS.c.claimed_at)
        .order_by(JOBS.c.lease_until)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return (await connection.execute(query)).mappings().all()


async def _move(
    connection: AsyncConnection, rows: Sequence[RowMapping], to: Transition, now: datetime
) -> None:
    if rows:
        change = update(JOBS).where(JOBS.c.id.in_([row["id"] for row in rows]))
        values = {"state": to.state, "error": LEASE_EXPIRED, "run_at": now + to.delay}
        await connection.execute(change.values(**_LET_GO, **values, updated_at=now))
