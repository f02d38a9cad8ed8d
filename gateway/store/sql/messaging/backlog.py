"""Counts the jobs that wait, run or need an operator."""

from datetime import datetime
from typing import Final, get_args

from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import JobKind
from gateway.store.records import Backlog
from gateway.store.sql.database import Database
from gateway.store.tables.base import Moment
from gateway.store.tables.jobs import JOBS

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


async def read_backlog(database: Database) -> list[Backlog]:
    """The numbers by kind and state. Raises `StoreError`."""

    async def count(connection: AsyncConnection) -> list[Backlog]:
        now = await database.now(connection)
        rows = (await connection.execute(_COUNTED)).mappings()
        return [
            Backlog(
                kind=row["kind"],
                state=row["state"],
                count=row["count"],
                oldest_seconds=_seconds(row["since"], now),
            )
            for row in rows
        ]

    return await database.read(count)


def _seconds(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max((now - since).total_seconds(), 0.0)
