"""The store in a database: all aggregates over one set of connections."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

import msgspec
from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Select,
    Table,
    func,
    literal,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import StoreError
from gateway.job_policy import WorkPolicy
from gateway.store.audited import ACCEPTED, OF_JOBS, OK
from gateway.store.keyed import CallEnding, KeyedCall, KnownCall, TaskSettlement
from gateway.store.records import Claim, Page
from gateway.store.sql.audit import SqlAudit, SqlKeys
from gateway.store.sql.database import Database
from gateway.store.sql.entities.pages import SqlEntities
from gateway.store.sql.failures import failures
from gateway.store.sql.jobs.rows import (
    Ending,
    is_held,
    job_of,
    jobs_where,
    new_job,
    note_attempts,
)
from gateway.store.sql.jobs.settling import empty_tasks, settle_tasks
from gateway.store.sql.jobs.waiting import answer_task, end_unanswered
from gateway.store.sql.keyed import SqlKeyedCalls, add_key, find_key
from gateway.store.sql.messaging.changes import Target
from gateway.store.sql.messaging.endpoints import SqlEndpoints
from gateway.store.sql.messaging.event_log import SqlEventLog
from gateway.store.sql.messaging.inbox import SqlInbox
from gateway.store.sql.messaging.queue import SqlQueue
from gateway.store.sql.messaging.subscriptions import SqlSubscriptions
from gateway.store.sql.statements import go_one_by_one
from gateway.store.sql.usage import SqlUsage
from gateway.store.tables.base import AUDIT_RECORDS, STORE_NAMES
from gateway.store.tables.jobs import JOB_ATTEMPTS, JOBS
from gateway.store.tables.keyed import KEYED_CALLS
from gateway.store.tables.tasks import OPEN, TASKS
from gateway.store.tasks import (
    AnswerTask,
    NewTask,
    StoredTask,
    TaskMark,
    TaskUncertain,
    TooManyTasks,
)

_C: Final = TASKS.c
_RECORDS: Final = AUDIT_RECORDS.c
_MILLISECOND: Final = len("01a208ef-fcc9")
"""The first characters of a UUIDv7: its time."""
_NOT_ENDED: Final = ("pending", "retryable", "processing", "waiting")
_OUTCOME: Final = CallEnding.__struct_fields__
_LARGE: Final = frozenset({"arguments", "body", "file", "questions", "answers"})
_EMPTY: Final = b""


class SqlTasks:
    """The table `tasks`, with its jobs."""

    def __init__(self, database: Database, policy: WorkPolicy) -> None:
        self._database = database
        self._attempts = policy.jobs["task"].attempts

    async def earlier(self, task: NewTask) -> KnownCall | None:
        """See `TaskStore`."""
        key = task.key
        if key is None:
            return None

        async def look(connection: AsyncConnection) -> KnownCall | None:
            now = await self._database.now(connection)
            return await find_key(connection, task.subject, key, now)

        return await self._database.read(look)

    async def add(self, task: NewTask, most: int) -> KnownCall | None:
        """See `TaskStore`."""
        is_committing = False

        async def store(connection: AsyncConnection, now: datetime) -> KnownCall | None:
            nonlocal is_committing
            is_committing = False
            known = await _known_call(connection, task, now)
            if known is not None:
                return known
            await _require_room(connection, task.subject, most)
            await connection.execute(JOBS.insert(), self._job(task, now))
            await connection.execute(TASKS.insert(), _row(task))
            is_committing = True
            return None

        try:
            return await self._database.write(store)
        except StoreError:
            # The answer to a commit may be lost after the commit.
            if not is_committing or not await self._is_stored(task.job_id):
                raise
        return None

    async def _is_stored(self, job_id: str) -> bool:
        try:
            return await self.find(job_id) is not None
        except StoreError as error:
            raise TaskUncertain(error.detail) from None

    async def adopt(self, task: NewTask, worker: str, lease_seconds: float) -> Claim:
        """See `TaskStore`."""

        async def store(connection: AsyncConnection, now: datetime) -> Claim:
            claimed = {
                "state": "processing",
                "attempts": 1,
                "claim_seq": 1,
                "claimed_by": worker,
                "claimed_at": now,
                "lease_until": now + timedelta(seconds=lease_seconds),
            }
            row = {**self._job(task, now), **claimed}
            await connection.execute(JOBS.insert(), row)
            await connection.execute(TASKS.insert(), _row(task))
            await _take_key(connection, task, now)
            return Claim(job=job_of(row), worker=worker)

        return await self._database.write(store)

    async def find(self, job_id: str, subject: str | None = None) -> StoredTask | None:
        """See `TaskStore`."""
        query = _tasks().where(_C.job_id == job_id)
        found = await self._stored(query if subject is None else query.where(_C.subject == subject))
        return found[0] if found else None

    async def marks(self, job_ids: Collection[str]) -> Mapping[str, TaskMark]:
        """See `TaskStore`."""
        seen = JOBS.c.state, JOBS.c.updated_at, _C.progress, _C.progress_text
        query = select(JOBS.c.id, *seen).join(TASKS, JOBS.c.id == _C.job_id)

        async def look(connection: AsyncConnection) -> Mapping[str, TaskMark]:
            rows = await connection.execute(query.where(JOBS.c.id.in_(job_ids)))
            return {job_id: TaskMark(*values) for job_id, *values in rows}

        return await self._database.read(look)

    async def list(self, subject: str, page: Page) -> list[StoredTask]:
        """See `TaskStore`."""
        query = _tasks(_LARGE).where(_C.subject == subject)
        if page.after is not None:
            query = query.where(_C.job_id < page.after)
        return [*await self._stored(query.order_by(_C.job_id.desc()).limit(page.limit))]

    async def may_have_begun(self, job_id: str, unmade: Collection[tuple[str, str]]) -> bool:
        """See `TaskStore`."""
        runs = _RECORDS.job_id == job_id, _RECORDS.transport == OF_JOBS
        ended = tuple_(_RECORDS.outcome, func.coalesce(_RECORDS.stage, ""))
        begun = select(_RECORDS.id).where(*runs, ended.not_in([*unmade]))
        proved = _waited(job_id), _submission(job_id).exists(), ~begun.exists()
        return not await self._database.rows(select(literal(1)).where(*proved))

    async def report(self, claim: Claim, progress: float, text: str) -> None:
        """See `TaskStore`."""
        held = select(JOBS.c.id).where(is_held([claim]))
        change = update(TASKS).where(_C.job_id.in_(held))

        async def store(connection: AsyncConnection, _now: datetime) -> None:
            await connection.execute(change.values(progress=progress, progress_text=text))

        await self._database.write(store)

    async def cancel(self, job_id: str, ending: CallEnding, actor: str) -> bool:
        """See `TaskStore`."""

        async def end(connection: AsyncConnection, now: datetime) -> bool:
            open_job = select(JOBS).where(JOBS.c.id == job_id, JOBS.c.state.in_(_NOT_ENDED))
            rows = (await connection.execute(open_job.with_for_update())).mappings().all()
            if not rows:
                return False
            values = {"state": "cancelled", "lease_until": None, "actor": actor, "updated_at": now}
            await connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(values))
            running = [row for row in rows if row["state"] == "processing"]
            await note_attempts(connection, running, Ending("cancelled"), now)
            true = ending if rows[0]["attempts"] else CallEnding(outcome="cancelled")
            await settle_tasks(connection, [TaskSettlement(job_id=job_id, ending=true)])
            return True

        return await self._database.write(end)

    async def answer(self, job_id: str, answer: AnswerTask) -> bool:
        """See `TaskStore`."""
        return await self._database.write(lambda to, now: answer_task(to, job_id, answer, now))

    async def end_unanswered(self, older_than_seconds: float, limit: int) -> int:
        """See `TaskStore`."""
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: end_unanswered(to, age, limit, now))

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """See `TaskStore`."""
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: empty_tasks(to, age, limit, now))

    def _job(self, task: NewTask, now: datetime) -> dict[str, Any]:
        row = new_job(task.job_id, "task", task.job_id, task.operation, self._attempts, now)
        return {**row, "owner": task.subject, "trace": task.trace}

    async def _stored(self, query: Select[Any]) -> Sequence[StoredTask]:
        async def look(connection: AsyncConnection) -> Sequence[StoredTask]:
            rows = (await connection.execute(query)).mappings().all()
            now = await self._database.now(connection)
            return [_stored_task(row, now) for row in rows]

        return await self._database.read(look)


async def _known_call(
    connection: AsyncConnection, task: NewTask, now: datetime
) -> KnownCall | None:
    if task.key is None:
        return None
    call = KeyedCall(
        id=task.job_id,
        subject=task.subject,
        key=task.key,
        operation=task.operation,
        fingerprint=task.fingerprint,
        lease_seconds=0.0,
    )
    return await add_key(connection, call, now, task.job_id)


async def _take_key(connection: AsyncConnection, task: NewTask, now: datetime) -> None:
    """Give the job the key of its call, also if that has released it, as a call that asks does."""
    if task.key is None:
        return
    held = update(KEYED_CALLS).where(KEYED_CALLS.c.id == task.call_id)
    if (await connection.execute(held.values(job_id=task.job_id))).rowcount:
        return
    if await _known_call(connection, task, now) is not None:
        raise StoreError("another call has its idempotency key by now")


async def _require_room(connection: AsyncConnection, subject: str, most: int) -> None:
    # Calls at once do not see each other's jobs before they are committed.
    await go_one_by_one(connection, [f"jobs of {subject}"])
    opened = select(literal(1)).where(OPEN, _C.subject == subject).limit(most).subquery()
    count = (await connection.execute(select(func.count()).select_from(opened))).scalar_one()
    if count >= most:
        raise TooManyTasks


def _waited(job_id: str) -> ColumnElement[bool]:
    """Whether the job waited for its first worker. The call of an adopted one ran already."""
    attempted = select(JOBS.c.id).join(JOB_ATTEMPTS, JOB_ATTEMPTS.c.job_id == JOBS.c.id)
    first = attempted.where(JOBS.c.id == job_id, JOB_ATTEMPTS.c.claim_seq == 1)
    return first.where(JOB_ATTEMPTS.c.started_at > JOBS.c.created_at).exists()


def _submission(job_id: str) -> Select[Any]:
    """The record of the call that made the job. It is older than those of runs, so they are kept
    for as long. The records of repetitions with its key are newer than the job."""
    of_job = _RECORDS.job_id == job_id, _RECORDS.id < f"{job_id[:_MILLISECOND]}~"
    answered = _RECORDS.outcome == OK, _RECORDS.status == ACCEPTED
    return select(_RECORDS.id).where(*of_job, *answered, _RECORDS.transport != OF_JOBS)


def _row(task: NewTask) -> dict[str, Any]:
    row = msgspec.structs.asdict(task)
    del row["fingerprint"], row["call_id"], row["trace"]
    return row


def _tasks(left_out: frozenset[str] = frozenset()) -> Select[Any]:
    own = [
        (literal(_EMPTY) if column.name in left_out else column).label(f"task_{column.name}")
        for column in TASKS.columns
    ]
    return jobs_where().add_columns(*own).join(TASKS, JOBS.c.id == _C.job_id)


def _stored_task(row: RowMapping, now: datetime) -> StoredTask:
    outcome = row["task_outcome"]
    ending = None
    if outcome is not None:
        values = {name: row[f"task_{name}"] for name in _OUTCOME}
        ending = CallEnding(**{**values, "body": values["body"] or _EMPTY})
    names = (name for name in StoredTask.__struct_fields__ if f"task_{name}" in row)
    return StoredTask(
        job=job_of(row),
        ending=ending,
        looked_at=now,
        **{name: row[f"task_{name}"] for name in names},
    )


MAX_RECORDS: Final = 100_000
"""How many audit records a database in memory keeps. The oldest are removed."""
_OWN: Final = "store"
_NAMED: Final = (
    "INSERT INTO store_names (kind, name) VALUES (:kind, :name) ON CONFLICT (kind) DO NOTHING"
)


class SqlStore:
    """A `Store` in a database. Made by `open_store`."""

    def __init__(
        self,
        database: Database,
        tables: Mapping[str, Table],
        policy: WorkPolicy,
        prepare: Callable[[], Awaitable[None]],
    ) -> None:
        self.database = database
        self.tables = tables
        """The tables of the entities, by kind."""
        self._prepare = prepare
        self._name: str | None = None
        self.audit = SqlAudit(database, None if database.is_persistent else MAX_RECORDS)
        self.keys = SqlKeys(database)
        self.keyed_calls = SqlKeyedCalls(database)
        self.usage = SqlUsage(database)
        self.inbox = SqlInbox(database, policy)
        self.tasks = SqlTasks(database, policy)
        self.queue = SqlQueue(database, Target(tables, policy))
        self.events = SqlEventLog(database, policy)
        self.endpoints = SqlEndpoints(database)
        self.subscriptions = SqlSubscriptions(database)
        self.entities = SqlEntities(database, tables)

    @property
    def label(self) -> str:
        """The name of the database in messages. It never contains a password."""
        return self.database.engines.label

    async def upgrade(self) -> None:
        """Migrate the tables to the current revision. Raises `StoreError`."""
        async with failures(self.label):
            await self._prepare()
        await self.database.begin()

    async def name(self) -> str:
        """A name that no other store has: it is made once, and stays. Raises `StoreError`."""
        if self._name is None:

            async def find(connection: AsyncConnection, _: datetime) -> str:
                made = {"kind": _OWN, "name": uuid4().hex}
                await connection.execute(text(_NAMED), made)
                query = select(STORE_NAMES.c.name).where(STORE_NAMES.c.kind == _OWN)
                return str((await connection.execute(query)).scalar_one())

            self._name = await self.database.write(find)
        return self._name

    @property
    def problem(self) -> str | None:
        """See `Store.problem`."""
        return self.database.problem

    @property
    def is_damaged(self) -> bool:
        """See `Store.is_damaged`."""
        return self.database.is_damaged

    async def close(self) -> None:
        """Wait for running requests, and close all connections."""
        await self.usage.close()
        await self.database.close()
