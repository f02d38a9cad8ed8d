"""Jobs and their attempts as rows: added, claimed, removed.

No lane waits for another's backlog, no owner for another's in the same lane, and no job is claimed
twice. Claims are asked for all the time: the statements are SQLAlchemy Core.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heapreplace
from random import SystemRandom
from typing import Any, Final, TypeAlias

from msgspec import Struct
from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    TextClause,
    and_,
    bindparam,
    delete,
    exists,
    func,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.failpoints import hit
from gateway.job_policy import JobKind
from gateway.store.records import Claim, Failure, Job
from gateway.store.sql.database import Database
from gateway.store.sql.plans import Row
from gateway.store.sql.sqlite import run
from gateway.store.sql.statements import Bulk, go_one_by_one
from gateway.store.tables import (
    CALLS,
    CLAIMED,
    DELIVERIES,
    HAS_ENDED,
    JOB_ATTEMPTS,
    JOBS,
    READY,
    TASKS,
    Moment,
)

ENDED: Final = ("completed", "dead_letter", "cancelled")
_REPLAY: Final = JOBS.alias("replay")
IDLE: Final = ("pending", "retryable", "quarantined", "waiting")
"""The states of jobs that have not ended and do not run."""
JOB_COLUMNS: Final = tuple(JOBS.c[name] for name in Job.__struct_fields__)
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
# The query finds lanes and their owners by skipping from one to the next in the index, however long
# each one is.
_DUE_BY_OWNER: Final = (
    text(
        """
    WITH RECURSIVE lanes(name) AS (
        SELECT (SELECT lane FROM jobs WHERE state IN ('pending', 'retryable') AND kind = :kind
                ORDER BY lane LIMIT 1)
        UNION ALL
        SELECT (SELECT lane FROM jobs
                WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane > lanes.name
                ORDER BY lane LIMIT 1)
        FROM lanes WHERE name IS NOT NULL
    ), owners(name, owner) AS (
        SELECT name, (SELECT owner FROM jobs
                WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane = lanes.name
                ORDER BY owner LIMIT 1)
        FROM lanes WHERE name IS NOT NULL
        UNION ALL
        SELECT name, (SELECT owner FROM jobs
                WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane = owners.name
                    AND owner > owners.owner
                ORDER BY owner LIMIT 1)
        FROM owners WHERE owner IS NOT NULL
    )
    SELECT owners.name, owners.owner, (
        SELECT count(*) FROM (
            SELECT 1 FROM jobs
            WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane = owners.name
                AND owner = owners.owner AND run_at <= :now
            LIMIT :limit
        ) AS due
    ) AS due
    FROM owners WHERE owners.owner IS NOT NULL
    """
    )
    .bindparams(
        bindparam("kind", type_=Text),
        bindparam("now", type_=Moment),
        bindparam("limit", type_=Integer),
    )
    .columns(name=Text, owner=Text, due=Integer)
)
_RUNNING_BY_OWNER: Final = (
    select(JOBS.c.lane, JOBS.c.owner, func.count().label("number"))
    # Without the kind, SQLite would read an index of all jobs.
    .where(CLAIMED, JOBS.c.kind == bindparam("of_kind"))
    .where(JOBS.c.lease_until >= bindparam("since", type_=Moment))
    .group_by(JOBS.c.lane, JOBS.c.owner)
)
ADDED_JOBS: Final = Bulk(JOBS)
_ENDED_ATTEMPTS: Final = Bulk(JOB_ATTEMPTS)
_Key: TypeAlias = tuple[str, str]
"""The kind and the name of a lane."""
_Numbers: TypeAlias = defaultdict[_Key, Counter[str]]
_SERVED: Final = 2**62
_lots: Final = SystemRandom()
_PRUNED_KINDS: Final = ("delivery", "call", "task")
FORGOTTEN_ARGUMENTS: Final = "null"
"""Stored in place of a call's arguments. Real arguments are an object, so they differ."""


class Ending(Struct, frozen=True):
    """How an attempt ended."""

    outcome: str
    failure: Failure | None = None


class ClaimRequest(Struct, frozen=True, kw_only=True):
    """A worker's request for jobs."""

    worker: str
    kinds: tuple[JobKind, ...]
    limit: int
    lease: timedelta
    lane_limit: int | None = None
    """The most running jobs of one lane, over all workers."""
    rooms: Mapping[str, int] = {}
    """The most jobs to claim of some lanes."""


class Lane(Struct, frozen=True):
    """Due work of one kind for one provider, endpoint or operation."""

    kind: str
    name: str
    due: int
    """The number of due jobs, counted only up to the wanted number."""
    under_way: int
    """The number of running jobs whose worker is alive."""
    owner: str = ""
    """Whose work it is. Empty: that of all owners, or of nobody."""


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


async def let_go(
    connection: AsyncConnection,
    claims: Sequence[Claim],
    values: Mapping[str, Any],
    ending: Ending,
    now: datetime,
) -> Sequence[Row]:
    """Change the jobs that `claims` still hold, and end their attempts. Returns their rows."""
    change = update(JOBS).where(is_held(claims))
    change = change.values(**values, lease_until=None, updated_at=now)
    await lock_in_order(connection, claims)
    rows = await run(connection, change.returning(*JOBS.c))
    await note_attempts(connection, rows, ending, now)
    return rows


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
    await _ENDED_ATTEMPTS.add(connection, rows)


async def has_due(database: Database, wanted: ClaimRequest) -> bool:
    """Whether there may be something to claim. Workers ask for it all the time."""
    now = database.own_time
    for kind in wanted.kinds:
        rows = await database.rows(_DUE_BY_OWNER, _asked(wanted, kind, now))
        if any(row["due"] for row in rows):
            return True
    return False


async def claim_due(
    connection: AsyncConnection, wanted: ClaimRequest, now: datetime
) -> list[Claim]:
    """Claim due jobs. This counts as an attempt of each."""
    due = await _due(connection, wanted, now)
    under_way = await _under_way(connection, wanted, now)
    shares = _shares(due, under_way, wanted)
    if wanted.lane_limit is not None and shares:
        # Workers that claim at once do not see each other's claims before they are committed.
        await go_one_by_one(connection, [f"lane {lane.kind} {lane.name}" for lane, _ in shares])
        under_way = await _under_way(connection, wanted, now)
        chosen = [(lane.kind, lane.name) for lane, _ in shares]
        shares = _shares({key: due[key] for key in chosen}, under_way, wanted)
    claims: list[Claim] = []
    for lane, number in shares:
        key = lane.kind, lane.name
        owners = [
            Lane(lane.kind, lane.name, count, under_way[key][owner], owner)
            for owner, count in due[key].items()
        ]
        for part, share in fair_shares(owners, number):
            claims += await _claim_in(connection, part, share, wanted, now)
    return claims


def _shares(
    due: Mapping[_Key, Counter[str]], under_way: _Numbers, wanted: ClaimRequest
) -> list[tuple[Lane, int]]:
    lanes = [
        Lane(kind, name, owners.total(), under_way[kind, name].total())
        for (kind, name), owners in due.items()
    ]
    return fair_shares(lanes, wanted.limit, wanted.lane_limit, wanted.rooms)


def fair_shares(
    lanes: Sequence[Lane],
    limit: int,
    lane_limit: int | None = None,
    rooms: Mapping[str, int] = {},
) -> list[tuple[Lane, int]]:
    """How many of at most `limit` jobs each lane gets.

    Each job goes to the lane with the fewest running jobs. Among equal lanes the choice is random,
    so that the same lanes do not win each time.
    """
    shares = [0] * len(lanes)
    ceilings = [min(lane.due, rooms.get(lane.name, limit)) for lane in lanes]
    if lane_limit is not None:
        ceilings = [
            min(ceiling, lane_limit - lane.under_way)
            for ceiling, lane in zip(ceilings, lanes, strict=True)
        ]
    waiting = [
        (lane.under_way, _lots.random(), at) for at, lane in enumerate(lanes) if ceilings[at] > 0
    ]
    heapify(waiting)
    for _ in range(min(limit, sum(max(0, ceiling) for ceiling in ceilings))):
        under_way, lot, at = waiting[0]
        shares[at] += 1
        is_served = shares[at] == ceilings[at]
        heapreplace(waiting, (_SERVED if is_served else under_way + 1, lot, at))
    return [(lane, share) for lane, share in zip(lanes, shares, strict=True) if share]


async def _due(connection: AsyncConnection, wanted: ClaimRequest, now: datetime) -> _Numbers:
    """The numbers of due jobs by lane and owner. None is 0."""
    due: _Numbers = defaultdict(Counter)
    for kind in wanted.kinds:
        asked = _asked(wanted, kind, now)
        for row in await run(connection, _DUE_BY_OWNER, asked):
            if row["due"]:
                due[kind, row["name"]][row["owner"]] = row["due"]
    return due


def _asked(wanted: ClaimRequest, kind: JobKind, now: datetime) -> dict[str, Any]:
    return {"kind": kind, "now": now, "limit": wanted.limit}


async def _under_way(connection: AsyncConnection, wanted: ClaimRequest, now: datetime) -> _Numbers:
    """The numbers of running jobs by lane and owner."""
    # A worker extends its claims every sixth of a lease. If it has not done so for half of a lease,
    # it has probably died. Its jobs must not block the lane until a sweep takes them back.
    since = now + wanted.lease / 2
    under_way: _Numbers = defaultdict(Counter)
    for kind in wanted.kinds:
        for row in await run(connection, _RUNNING_BY_OWNER, {"of_kind": kind, "since": since}):
            under_way[kind, row["lane"]][row["owner"]] = row["number"]
    return under_way


async def _claim_in(
    connection: AsyncConnection, lane: Lane, number: int, wanted: ClaimRequest, now: datetime
) -> list[Claim]:
    asked = {
        "of_kind": lane.kind,
        "of_lane": lane.name,
        "of_owner": lane.owner,
        "before": now,
        "at_most": number,
        "by": wanted.worker,
        "until": now + wanted.lease,
    }
    rows = await run(connection, _CLAIM, asked)
    found = sorted(rows, key=lambda row: (row["run_at"], row["id"]))
    return [Claim(job=job_of(row), worker=wanted.worker) for row in found]


def _due_in_lane() -> Select[Any]:
    """The due jobs of an owner in a lane. Skips jobs that another worker is claiming and does not
    wait for them. SQLite has one writer and ignores this."""
    return (
        select(JOBS.c.id)
        .where(
            READY,
            JOBS.c.kind == bindparam("of_kind"),
            JOBS.c.lane == bindparam("of_lane"),
            JOBS.c.owner == bindparam("of_owner"),
            JOBS.c.run_at <= bindparam("before", type_=Moment),
        )
        .order_by(JOBS.c.run_at, JOBS.c.id)
        .limit(bindparam("at_most"))
        .with_for_update(skip_locked=True)
    )


async def prune_jobs(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove jobs of deliveries, calls and tasks that ended before then. Returns how many.

    A job that is being started again is skipped.
    """
    ended = (
        select(JOBS.c.id)
        .where(JOBS.c.kind.in_(_PRUNED_KINDS), HAS_ENDED, JOBS.c.updated_at < before)
        .order_by(JOBS.c.updated_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = (await connection.execute(ended)).scalars().all()
    calls = select(JOBS.c.subject).where(JOBS.c.kind == "call", JOBS.c.id.in_(ids))
    is_needed = exists().where(
        JOBS.c.kind == "call", JOBS.c.subject == CALLS.c.id, JOBS.c.id.not_in(ids)
    )
    # Keep the ids for some time: when a webhook is repeated, its calls must not be made again.
    emptied = update(CALLS).where(CALLS.c.id.in_(calls), ~is_needed)
    await connection.execute(emptied.values(arguments=FORGOTTEN_ARGUMENTS))
    await _remove(connection, DELIVERIES.c.job_id, ids)
    await _remove(connection, TASKS.c.job_id, ids)
    await _remove_jobs(connection, ids)
    hit("retention.before_commit")
    return len(ids)


async def _remove_jobs(connection: AsyncConnection, ids: Sequence[str]) -> None:
    await _remove(connection, JOB_ATTEMPTS.c.job_id, ids)
    await _remove(connection, JOBS.c.id, ids)


async def _remove(connection: AsyncConnection, column: Column[str], values: Sequence[str]) -> None:
    table: Table = column.table
    if values:
        await connection.execute(delete(table).where(column.in_(values)))


_CLAIM: Final = (
    update(JOBS)
    .where(JOBS.c.id.in_(_due_in_lane().cte("due").select()))
    .values(
        state="processing",
        attempts=JOBS.c.attempts + 1,
        claim_seq=JOBS.c.claim_seq + 1,
        claimed_by=bindparam("by"),
        claimed_at=bindparam("before", type_=Moment),
        lease_until=bindparam("until", type_=Moment),
        updated_at=bindparam("before", type_=Moment),
    )
    .returning(*JOB_COLUMNS)
)
