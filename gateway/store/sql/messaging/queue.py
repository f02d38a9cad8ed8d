"""The queue of jobs. A lost claim changes nothing."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.failpoints import hit
from gateway.job_policy import JobKind
from gateway.store.keyed import CallEnding, TaskSettlement
from gateway.store.publishing import Listed
from gateway.store.records import (
    RESTORED,
    Attempt,
    Backlog,
    Changes,
    Claim,
    Failure,
    Job,
    JobState,
    NewCall,
    Page,
    WorkLeft,
)
from gateway.store.sql.database import Database
from gateway.store.sql.jobs.listing import JobsAsked, list_jobs
from gateway.store.sql.jobs.rows import (
    ATTEMPT_COLUMNS,
    IDLE,
    is_held,
    job_of,
    jobs_where,
    lock_in_order,
)
from gateway.store.sql.jobs.settling import settle_tasks
from gateway.store.sql.jobs.waiting import wait_for_answers
from gateway.store.sql.messaging.backlog import read_backlog
from gateway.store.sql.messaging.changes import Target, apply_changes
from gateway.store.sql.messaging.claiming import ClaimRequest, claim_due, has_due
from gateway.store.sql.messaging.ending import end_undelivered
from gateway.store.sql.messaging.redriving import redrive_job
from gateway.store.sql.messaging.retention import FORGOTTEN_ARGUMENTS, prune_jobs
from gateway.store.sql.messaging.transitions import (
    Shown,
    Sweep,
    Transition,
    settle,
    sweep_expired,
    take_back,
)
from gateway.store.tables.events import EVENTS, UNPLACED
from gateway.store.tables.jobs import CALLS, JOB_ATTEMPTS, JOBS, READY
from gateway.store.tables.tasks import TASKS

_COMPLETED: Final = Transition("completed")
_WAITING: Final = select(
    select(JOBS.c.run_at).where(READY).order_by(JOBS.c.run_at).limit(1).scalar_subquery(),
    exists().where(UNPLACED).select_from(EVENTS),
)
"""The time of the first job that waits, and whether there are events without a position."""


class SqlQueue:
    """The tables `jobs`, `job_attempts` and `calls`."""

    def __init__(self, database: Database, target: Target) -> None:
        self._database = database
        self._target = target

    async def claim(
        self,
        worker: str,
        kinds: Sequence[JobKind],
        limit: int,
        lease_seconds: float,
        *,
        lane_limit: int | None = None,
        rooms: Mapping[str, int] = {},
    ) -> list[Claim]:
        if limit < 1:
            return []
        wanted = ClaimRequest(
            worker=worker,
            kinds=tuple(kinds),
            limit=limit,
            lease=timedelta(seconds=lease_seconds),
            lane_limit=lane_limit,
            rooms=rooms,
        )

        async def look(connection: AsyncConnection) -> bool:
            return await has_due(connection, wanted, await self._database.now(connection))

        # Claiming takes the only write lock of SQLite, so look first.
        if not (self._database.is_postgres or await self._database.read(look)):
            return []
        return await self._database.write(lambda to, now: claim_due(to, wanted, now))

    async def waiting(self) -> WorkLeft:
        async def look(connection: AsyncConnection) -> WorkLeft:
            first, has_events = (await connection.execute(_WAITING)).one()
            is_due = first is not None and first <= await self._database.now(connection)
            return WorkLeft(has_due_jobs=is_due, has_events=bool(has_events))

        return await self._database.read(look)

    async def extend(self, claims: Sequence[Claim], lease_seconds: float) -> frozenset[str]:
        if not claims:
            return frozenset()
        lease = timedelta(seconds=lease_seconds)

        async def lengthen(connection: AsyncConnection, now: datetime) -> frozenset[str]:
            await lock_in_order(connection, claims)
            change = update(JOBS).where(is_held(claims)).values(lease_until=now + lease)
            return frozenset((await connection.execute(change.returning(JOBS.c.id))).scalars())

        return await self._database.write(lengthen)

    async def release(self, claims: Sequence[Claim], delay_seconds: float = 0.0) -> int:
        if not claims:
            return 0
        delay = timedelta(seconds=delay_seconds)
        return await self._database.write(lambda to, now: take_back(to, claims, now, delay))

    async def wait_for_answers(self, claim: Claim, questions: bytes, answers: bytes) -> bool:
        return await self._database.write(
            lambda to, now: wait_for_answers(to, claim, questions, answers, now)
        )

    async def finish_all(self, finished: Sequence[tuple[Claim, Changes]]) -> list[bool]:
        return await self._settle(finished, _COMPLETED)

    async def fail(
        self, claim: Claim, failure: Failure, retry_seconds: float | None, changes: Changes
    ) -> bool:
        if retry_seconds is None or claim.job.attempts >= claim.job.max_attempts:
            transition = Transition("dead_letter", failure)
        else:
            transition = Transition("retryable", failure, timedelta(seconds=retry_seconds))
        return await self._settle([(claim, changes)], transition) == [True]

    async def sweep(
        self, limit: int, backoff_seconds: float, on_dead: Callable[[Job], Changes]
    ) -> tuple[int, int]:
        sweep = Sweep(limit, timedelta(seconds=backoff_seconds), on_dead)
        return await self._database.write(
            lambda to, now: sweep_expired(to, self._target, sweep, now)
        )

    async def jobs(
        self,
        page: Page,
        *,
        kind: JobKind | None = None,
        lane: str | None = None,
        state: JobState | None = None,
        is_last: bool = False,
    ) -> Listed[Job]:
        asked = JobsAsked(kind, lane, state, is_last)
        return await self._database.read(lambda to: list_jobs(to, asked, page))

    async def backlog(self) -> list[Backlog]:
        return await read_backlog(self._database)

    async def find(self, job_id: str) -> Job | None:
        rows = await self._database.rows(jobs_where(JOBS.c.id == job_id))
        return job_of(rows[0]) if rows else None

    async def call(self, job_id: str) -> NewCall | None:
        found = select(CALLS).join(JOBS, JOBS.c.subject == CALLS.c.id)
        found = found.where(CALLS.c.arguments != FORGOTTEN_ARGUMENTS)
        rows = await self._database.rows(found.where(JOBS.c.id == job_id, JOBS.c.kind == "call"))
        if not rows:
            return None
        names = ("id", "operation", "lane")
        arguments = msgspec.json.decode(rows[0]["arguments"])
        return NewCall(arguments=arguments, **{name: rows[0][name] for name in names})

    async def attempts(self, job_id: str) -> list[Attempt]:
        made = select(*ATTEMPT_COLUMNS).where(JOB_ATTEMPTS.c.job_id == job_id)
        rows = await self._database.rows(made.order_by(JOB_ATTEMPTS.c.claim_seq))
        return [Attempt(**row) for row in rows]

    async def redrive(self, job_id: str, actor: str, *, force: bool = False) -> Job | None:
        return await self._database.write(
            lambda to, now: redrive_job(to, now, job_id, actor, is_forced=force)
        )

    async def cancel(self, job_id: str, actor: str) -> bool:
        async def end(connection: AsyncConnection, now: datetime) -> bool:
            idle = (
                select(JOBS.c.attempts, TASKS.c.is_read)
                .outerjoin(TASKS, TASKS.c.job_id == JOBS.c.id)
                .where(JOBS.c.id == job_id, JOBS.c.state.in_(IDLE))
                .with_for_update(of=JOBS)
            )
            job = (await connection.execute(idle)).one_or_none()
            if job is None:
                return False
            values = {"state": "cancelled", "actor": actor, "updated_at": now}
            await connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(values))
            # The worker of an earlier attempt may have died after the effect of a write.
            is_unknown = job.attempts > 0 and job.is_read is False
            ending = CallEnding(outcome="unknown" if is_unknown else "cancelled")
            await settle_tasks(connection, [TaskSettlement(job_id=job_id, ending=ending)])
            return True

        return await self._database.write(end)

    async def end_undelivered(self, endpoint_id: str) -> None:
        await end_undelivered(self._database, endpoint_id)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: prune_jobs(to, now - age, limit))

    async def _settle(
        self, settled: Sequence[tuple[Claim, Changes]], transition: Transition
    ) -> list[bool]:
        """Make the transition of jobs whose claims are still held, with their changes.

        Returns for each whether its claim was still held.
        """
        claims = [claim for claim, _ in settled]
        shown = [(claim.job.id, claim.job.claim_seq) for claim in claims]

        async def settle_all(connection: AsyncConnection, now: datetime) -> frozenset[Shown]:
            held = await settle(connection, claims, transition, now)
            kept = [settled[at] for at, claim in enumerate(shown) if claim in held]
            changes = [
                msgspec.structs.replace(each, is_restored=True)
                if claim.job.actor == RESTORED
                else each
                for claim, each in kept
            ]
            await apply_changes(connection, self._target, changes, now)
            hit("jobs.before_commit")
            return held

        held = await self._database.write(settle_all)
        hit("jobs.after_commit")
        return [claim in held for claim in shown]
