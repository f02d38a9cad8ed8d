"""Claims due jobs. No lane waits for another's backlog, and no job is claimed twice."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heapreplace
from random import SystemRandom
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Integer, Select, Text, bindparam, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import JobKind
from gateway.store.records import Claim
from gateway.store.sql.jobs.rows import JOB_COLUMNS, job_of
from gateway.store.tables.base import Moment
from gateway.store.tables.jobs import CLAIMED, JOBS, READY


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


# The query finds lanes by skipping from one to the next in the index, however long each one is.
_DUE_LANES: Final = text(
    """
    WITH RECURSIVE lanes(name) AS (
        SELECT (SELECT lane FROM jobs WHERE state IN ('pending', 'retryable') AND kind = :kind
                ORDER BY lane LIMIT 1)
        UNION ALL
        SELECT (SELECT lane FROM jobs
                WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane > lanes.name
                ORDER BY lane LIMIT 1)
        FROM lanes WHERE name IS NOT NULL
    )
    SELECT lanes.name, (
        SELECT count(*) FROM (
            SELECT 1 FROM jobs
            WHERE state IN ('pending', 'retryable') AND kind = :kind AND lane = lanes.name
                AND run_at <= :now
            LIMIT :limit
        ) AS due
    ) AS due
    FROM lanes WHERE lanes.name IS NOT NULL
    """
).bindparams(
    bindparam("kind", type_=Text), bindparam("now", type_=Moment), bindparam("limit", type_=Integer)
)
_SERVED: Final = 2**62
_lots: Final = SystemRandom()


async def claim_due(
    connection: AsyncConnection, wanted: ClaimRequest, now: datetime
) -> list[Claim]:
    """Claim due jobs. This counts as an attempt of each."""
    lanes = await _lanes(connection, wanted, now)
    claims: list[Claim] = []
    for lane, number in fair_shares(lanes, wanted.limit, wanted.lane_limit, wanted.rooms):
        claims += await _claim_in(connection, lane, number, wanted, now)
    return claims


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


async def _lanes(connection: AsyncConnection, wanted: ClaimRequest, now: datetime) -> list[Lane]:
    # A worker extends its claims every sixth of a lease. If it has not done so for half of a lease,
    # it has probably died. Its jobs must not block the lane until a sweep takes them back.
    alive_until = now + wanted.lease / 2
    under_way = await _under_way(connection, wanted.kinds, alive_until)
    lanes: list[Lane] = []
    for kind in wanted.kinds:
        asked = {"kind": kind, "now": now, "limit": wanted.limit}
        for name, due in await connection.execute(_DUE_LANES, asked):
            lanes.append(Lane(kind, name, due, under_way.get((kind, name), 0)))
    return [lane for lane in lanes if lane.due]


async def _under_way(
    connection: AsyncConnection, kinds: Sequence[JobKind], alive_until: datetime
) -> Mapping[tuple[str, str], int]:
    # Without the kinds, SQLite would read an index of all jobs.
    counted = select(JOBS.c.kind, JOBS.c.lane, func.count()).where(
        CLAIMED, JOBS.c.kind.in_(kinds), JOBS.c.lease_until >= alive_until
    )
    rows = await connection.execute(counted.group_by(JOBS.c.kind, JOBS.c.lane))
    return {(kind, lane): number for kind, lane, number in rows}


async def _claim_in(
    connection: AsyncConnection, lane: Lane, number: int, wanted: ClaimRequest, now: datetime
) -> list[Claim]:
    asked = {
        "of_kind": lane.kind,
        "of_lane": lane.name,
        "before": now,
        "at_most": number,
        "by": wanted.worker,
        "until": now + wanted.lease,
    }
    rows = (await connection.execute(_CLAIM, asked)).mappings().all()
    found = sorted(rows, key=lambda row: (row["run_at"], row["id"]))
    return [Claim(job=job_of(row), worker=wanted.worker) for row in found]


def _due_in_lane() -> Select[Any]:
    """The due jobs of a lane. Skips jobs that another worker is claiming and does not wait for
    them. SQLite has one writer and ignores this."""
    return (
        select(JOBS.c.id)
        .where(
            READY,
            JOBS.c.kind == bindparam("of_kind"),
            JOBS.c.lane == bindparam("of_lane"),
            JOBS.c.run_at <= bindparam("before", type_=Moment),
        )
        .order_by(JOBS.c.run_at, JOBS.c.id)
        .limit(bindparam("at_most"))
        .with_for_update(skip_locked=True)
    )


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
