"""Lists jobs, newest first."""

from collections.abc import Sequence
from itertools import product
from typing import Any, get_args

from msgspec import Struct
from sqlalchemy import ColumnElement, FromClause, Select, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.job_policy import JobKind
from gateway.store.publishing import Listed
from gateway.store.records import Job, JobState, Page
from gateway.store.sql import statements
from gateway.store.sql.jobs.rows import is_last, job_of, jobs_where
from gateway.store.tables.jobs import JOBS


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


async def list_jobs(connection: AsyncConnection, asked: JobsAsked, page: Page) -> Listed[Job]:
    """See `Queue.jobs`."""
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
