"""The queue of jobs. A lost claim changes nothing. An ended job starts again as a new one.

Every job is settled here: the statements are SQLAlchemy Core, but for what operators ask.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import compress, product
from typing import Any, Final, get_args

import msgspec
import sqlmodel
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Table,
    bindparam,
    case,
    exists,
    func,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from gateway.failpoints import hit
from gateway.ids import uuid7
from gateway.job_policy import JobKind, WorkPolicy
from gateway.store.publishing import Listed
from gateway.store.records import (
    LEASE_EXPIRED,
    RESTORED,
    Attempt,
    Backlog,
    CallEnding,
    Changes,
    Claim,
    Failure,
    Job,
    JobState,
    NewCall,
    Page,
    TaskSettlement,
    WorkLeft,
)
from gateway.store.sql import statements
from gateway.store.sql.audit import insert_audit
from gateway.store.sql.database import Database
from gateway.store.sql.endpoints import end_undelivered, note_outcome
from gateway.store.sql.engines import explain, is_transient
from gateway.store.sql.entities import write_entities
from gateway.store.sql.events import (
    insert_events,
)
from gateway.store.sql.jobs import (
    ENDED,
    FORGOTTEN_ARGUMENTS,
    IDLE,
    ClaimRequest,
    Ending,
    claim_due,
    has_due,
    is_held,
    is_last,
    job_of,
    jobs_where,
    let_go,
    lock_in_order,
    new_job,
    note_attempts,
    prune_jobs,
)
from gateway.store.sql.plans import Row
from gateway.store.sql.sqlite import run, sqlite3
from gateway.store.sql.statements import as_json, insert_into
from gateway.store.sql.tasks import settle_tasks, wait_for_answers
from gateway.store.sql.webhooks import receive_webhooks
from gateway.store.tables import (
    CALLS,
    CLAIMED,
    EVENTS,
    JOBS,
    READY,
    TASKS,
    UNPLACED,
    CallRow,
    DeliveryRow,
    JobAttemptRow,
    JobRow,
    Moment,
    WebhookRow,
)

_OF_VALUES: Final[dict[str, Any]] = {"key_share": True}
"""Locks a row whose key does not change."""
_log: Final = logging.getLogger(__name__)
_EXPIRED: Final = Ending(LEASE_EXPIRED, Failure(error=LEASE_EXPIRED))
Shown = tuple[str, int]
"""Identifies a claim by the id of its job and its number. One job can have several claims."""
_STATES: Final = ("pending", "retryable", "processing", "quarantined", "dead_letter", "waiting")
_SINCE: Final = case(
    (JOBS.c.state == "processing", JOBS.c.claimed_at),
    (JOBS.c.state.in_(("pending", "retryable")), JOBS.c.run_at),
    else_=JOBS.c.updated_at,
)
_COUNTED: Final = (
    select(
        JOBS.c.kind,
        JOBS.c.state,
        func.count().label("count"),
        func.min(_SINCE, type_=Moment).label("since"),
    )
    # All kinds are named, so that the index by kind and state has the few jobs of these states.
    .where(JOBS.c.kind.in_(get_args(JobKind)), JOBS.c.state.in_(_STATES))
    .group_by(JOBS.c.kind, JOBS.c.state)
    .order_by(JOBS.c.kind, JOBS.c.state)
)
_WAITING: Final = select(
    select(JOBS.c.run_at).where(READY).order_by(JOBS.c.run_at).limit(1).scalar_subquery(),
    exists().where(UNPLACED).select_from(EVENTS),
)
"""The time of the first job that waits, and whether there are events without a position."""
_FAILED_RENAMED: Final = (
    update(JOBS)
    .where(
        JOBS.c.id.in_(
            select(JOBS.c.id)
            # All kinds are listed because the index starts with the kind.
            .where(JOBS.c.kind.in_(map(literal, get_args(JobKind))), JOBS.c.state == "failed")
            .with_for_update(skip_locked=True)
            .cte("failed")
            .select()
        )
    )
    .values(state="retryable")
)
"""Renames the state `failed`, which gateways older than revision 0005 still write.

On a server, such a gateway may run beside this one for some time. Without this, no worker would
claim these jobs. Skips rows that the other gateway has locked; the next sweep renames them.
"""
_EXPIRED_CLAIMS: Final = (
    jobs_where(CLAIMED, JOBS.c.lease_until < bindparam("now", type_=Moment))
    .add_columns(JOBS.c.claimed_at)
    .order_by(JOBS.c.lease_until)
    .limit(bindparam("at_most"))
    .with_for_update(skip_locked=True)
)
"""Skips rows that another sweep or a late worker has locked."""


class Target(Struct, frozen=True):
    """Where to write changes, and the policy for the jobs that they create."""

    entities: Mapping[str, Table]
    policy: WorkPolicy


class Transition(Struct, frozen=True):
    """The next state of a job in `processing`."""

    state: str
    failure: Failure | None = None
    delay: timedelta = timedelta()

    @property
    def outcome(self) -> str:
        """The outcome of the attempt. It is a failure even if the job is tried again."""
        return "failed" if self.state == "retryable" else self.state


class Sweep(Struct, frozen=True):
    """How expired claims are taken back."""

    limit: int
    backoff: timedelta
    on_dead: Callable[[Job], Changes]


class JobsAsked(Struct, frozen=True):
    """Which jobs to list: see `Queue.jobs`."""

    kind: JobKind | None
    lane: str | None
    state: JobState | None
    is_last: bool

    def rest(self, read: FromClause) -> Sequence[ColumnElement[bool]]:
        """The conditions that no index answers, for the jobs that are read."""
        conditions: list[ColumnElement[bool]] = []
        if self.lane is not None:
            conditions.append(read.c.lane == self.lane)
        if self.is_last:
            conditions.append(is_last(read))
        return conditions


_COMPLETED: Final = Transition("completed")


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
        # Claiming takes the only write lock of SQLite, so look first.
        if not (self._database.is_postgres or await has_due(self._database, wanted)):
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
        # First: a worker that froze may keep the rows of its jobs locked.
        await self._database.end_frozen()
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
        async def count(connection: AsyncConnection) -> list[Backlog]:
            now = await self._database.now(connection)
            return [
                Backlog(kind=kind, state=state, count=number, oldest_seconds=_seconds(since, now))
                for kind, state, number, since in await connection.execute(_COUNTED)
            ]

        return await self._database.read(count)

    async def find(self, job_id: str) -> Job | None:
        row = await self._database.model(JobRow, job_id)
        return None if row is None else job_of(row.model_dump())

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
        made = sqlmodel.select(JobAttemptRow).where(JobAttemptRow.job_id == job_id)
        rows = await self._database.models(made.order_by(col(JobAttemptRow.claim_seq)))
        return [Attempt(**row.model_dump()) for row in rows]

    async def redrive(self, job_id: str, actor: str, *, force: bool = False) -> Job | None:
        return await self._database.change(
            lambda session, now: redrive_job(session, now, job_id, actor, is_forced=force)
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
        return await self._database.prune(older_than_seconds, prune_jobs, limit)

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


async def apply_changes(
    connection: AsyncConnection, target: Target, changes: Sequence[Changes], now: datetime
) -> None:
    """Write `changes` in the caller's transaction, which has checked its claims before.

    Rows that other transactions may write too are always locked in the same order, so that there is
    no deadlock.
    """
    await _add_jobs(connection, target.policy, changes, now)
    outcomes = [each.delivery for each in changes if each.delivery is not None]
    for outcome in sorted(outcomes, key=lambda outcome: outcome.endpoint_id):
        await note_outcome(connection, outcome, now)
    await settle_tasks(connection, [each.task for each in changes if each.task is not None])
    if records := [each.audit for each in changes if each.audit is not None]:
        await insert_audit(connection, records)
    await insert_events(connection, [event for each in changes for event in each.events], now)
    if entities := [change for each in changes for change in each.entities]:
        await write_entities(connection, target.entities, entities, now)


async def _add_jobs(
    connection: AsyncConnection, policy: WorkPolicy, changes: Sequence[Changes], now: datetime
) -> None:
    marked = []
    if webhooks := [new for each in changes for new in each.webhooks]:
        attempts = policy.jobs["webhook"].attempts
        receipts = await receive_webhooks(connection, webhooks, attempts, now)
        restored = [each.is_restored for each in changes for _ in each.webhooks]
        marked = [receipt.webhook_id for receipt in compress(receipts, restored)]
    calls = [call for each in changes for call in each.calls]
    await _add_calls(connection, calls, policy.jobs["call"].attempts, now)
    marked += [call.id for each in changes if each.is_restored for call in each.calls]
    if marked:
        added = update(JOBS).where(JOBS.c.subject.in_(marked), JOBS.c.attempts == 0)
        await connection.execute(added.where(JOBS.c.actor.is_(None)).values(actor=RESTORED))


async def _add_calls(
    connection: AsyncConnection, calls: Sequence[NewCall], attempts: int, now: datetime
) -> None:
    """Add jobs for `calls`. A call whose id exists already is not added again."""
    for call in sorted(calls, key=lambda call: call.id):
        row = {
            "id": call.id,
            "operation": call.operation,
            "arguments": as_json(call.arguments),
            "lane": call.lane,
            "created_at": now,
        }
        insertion = insert_into(connection.dialect.name, CALLS).values(row)
        added = await connection.execute(insertion.on_conflict_do_nothing(index_elements=["id"]))
        if added.rowcount == 1:
            job = new_job(uuid7(now), "call", call.id, call.lane, attempts, now)
            await connection.execute(JOBS.insert(), {**job, "trace": call.trace})


async def redrive_job(
    session: AsyncSession, now: datetime, job_id: str, actor: str, *, is_forced: bool
) -> Job | None:
    """See `Queue.redrive`."""
    found = await session.get(JobRow, job_id)
    if found is None:
        return None
    job = job_of(found.model_dump())
    if not await _may_repeat(session, job, is_forced=is_forced):
        return None
    row = {
        **new_job(uuid7(now), job.kind, job.subject, job.lane, job.max_attempts, now),
        "replay_of": job.id,
        "actor": actor,
        "trace": job.trace,
    }
    if not await _point_to(session, job, row["id"]):
        return None
    session.add(JobRow(**row))
    return job_of(row)


async def _may_repeat(session: AsyncSession, job: Job, *, is_forced: bool) -> bool:
    """Whether all jobs of the same subject have ended, and none has succeeded unless forced."""
    same = sqlmodel.select(JobRow.state).where(
        JobRow.subject == job.subject, JobRow.kind == job.kind
    )
    # A concurrent redrive waits here. Only the next statement sees the job that it added.
    await session.exec(same.order_by(col(JobRow.id)).with_for_update())
    states = frozenset(await session.exec(same))
    return states <= frozenset(ENDED) and (is_forced or "completed" not in states)


async def _point_to(session: AsyncSession, job: Job, newest: str) -> bool:
    """Set the newest job of the subject. Returns whether the subject still exists.

    Its row is locked until this transaction ends, so that retention does not empty it.
    """
    match job.kind:
        case "call":
            call = await session.get(CallRow, job.subject, with_for_update=True)
            return call is not None and call.arguments != FORGOTTEN_ARGUMENTS
        case "webhook":
            webhook = await session.get(WebhookRow, job.subject, with_for_update=_OF_VALUES)
            if webhook is None or webhook.body is None:
                return False
            webhook.job_id = newest
        case "delivery":
            delivery = await session.get(DeliveryRow, job.subject, with_for_update=_OF_VALUES)
            if delivery is None:
                return False
            delivery.job_id = newest
        case "task":
            # Only its owner may make the call of a task again.
            return False
    return True


async def settle(
    connection: AsyncConnection,
    claims: Sequence[Claim],
    transition: Transition,
    now: datetime,
) -> frozenset[Shown]:
    """Make the transition. Returns the claims that were still held."""
    failure = transition.failure
    moved = {
        "state": transition.state,
        "error": None if failure is None else failure.error,
        "run_at": now + transition.delay,
    }
    ending = Ending(transition.outcome, failure)
    rows = await let_go(connection, claims, moved, ending, now)
    return frozenset((row["id"], row["claim_seq"]) for row in rows)


async def take_back(
    connection: AsyncConnection, claims: Sequence[Claim], now: datetime, delay: timedelta
) -> int:
    """Let the jobs wait again as if they had not been claimed. Returns how many were still held."""
    moved = {
        "state": case((JOBS.c.attempts == 1, "pending"), else_="retryable"),
        "attempts": JOBS.c.attempts - 1,
        "run_at": now + delay,
    }
    return len(await let_go(connection, claims, moved, Ending("released"), now))


async def sweep_expired(
    connection: AsyncConnection, target: Target, sweep: Sweep, now: datetime
) -> tuple[int, int]:
    """End expired claims. Returns how many jobs will be tried again, and how many dead letters."""
    await run(connection, _FAILED_RENAMED)
    expired = await run(connection, _EXPIRED_CLAIMS, {"now": now, "at_most": sweep.limit})
    dead = [row for row in expired if row["attempts"] >= row["max_attempts"]]
    again = [row for row in expired if row["attempts"] < row["max_attempts"]]
    await _move(connection, again, Transition("retryable", delay=sweep.backoff), now)
    await _move(connection, dead, Transition("dead_letter"), now)
    await note_attempts(connection, expired, _EXPIRED, now)
    for row in dead:
        job = job_of({**row, "state": "dead_letter", "lease_until": None, "error": LEASE_EXPIRED})
        await _apply_what_is_taken(connection, target, job, sweep.on_dead(job), now)
    return len(again), len(dead)


async def _apply_what_is_taken(
    connection: AsyncConnection, target: Target, job: Job, changes: Changes, now: datetime
) -> None:
    """Write the changes of one dead letter. If the database refuses them, other jobs go on."""
    for some in (changes, changes.without_events()):
        try:
            async with connection.begin_nested():
                await apply_changes(connection, target, [some], now)
        except (DBAPIError, sqlite3.Error) as error:
            if is_transient(error):
                raise
            _log.error("job %s ends without all of its changes: %s", job.id, explain(error))
        else:
            return


async def _move(
    connection: AsyncConnection, rows: Sequence[Row], to: Transition, now: datetime
) -> None:
    if rows:
        change = update(JOBS).where(JOBS.c.id.in_([row["id"] for row in rows]))
        values = {"state": to.state, "error": LEASE_EXPIRED, "run_at": now + to.delay}
        await connection.execute(change.values(**values, lease_until=None, updated_at=now))


async def list_jobs(connection: AsyncConnection, asked: JobsAsked, page: Page) -> Listed[Job]:
    newest = _newest(asked, page)
    rows, last = await statements.read_page(connection, newest, asked.rest, page.limit)
    return Listed(map(job_of, rows), last)


def _newest(asked: JobsAsked, page: Page) -> Select[Any]:
    after = [] if page.after is None else [JOBS.c.id < page.after]
    if asked.kind is None and asked.state is None:
        return jobs_where(*after).order_by(JOBS.c.id.desc())
    kinds = get_args(JobKind) if asked.kind is None else (asked.kind,)
    states = get_args(JobState) if asked.state is None else (asked.state,)
    # The index is by both, and then by id. So each pair has its newest jobs at one place.
    most = statements.READ_AT_MOST if asked.rest(JOBS) else page.limit
    parts = [
        jobs_where(*after, JOBS.c.kind == kind, JOBS.c.state == state)
        .order_by(JOBS.c.id.desc())
        .limit(most)
        .subquery()
        for kind, state in product(kinds, states)
    ]
    found = union_all(*map(select, parts)).subquery()
    return select(found).order_by(found.c.id.desc())


def _seconds(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)
