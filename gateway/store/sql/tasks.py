"""Calls with an idempotency key, and calls that became jobs.

They are written and read during calls: the statements are SQLAlchemy Core.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    delete,
    exists,
    func,
    literal,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.errors import StoreError
from gateway.ids import first_id
from gateway.job_policy import WorkPolicy
from gateway.store.protocols import AnswerTask, TaskUncertain, TooManyTasks
from gateway.store.records import (
    ACCEPTED,
    OF_JOBS,
    OK,
    CallEnding,
    Claim,
    KeyedCall,
    KnownCall,
    NewTask,
    Page,
    StoredTask,
    TaskMark,
    TaskSettlement,
)
from gateway.store.sql.database import Database
from gateway.store.sql.jobs import (
    ADDED_JOBS,
    ENDED,
    Ending,
    is_held,
    job_of,
    jobs_where,
    let_go,
    new_job,
    note_attempts,
)
from gateway.store.sql.plans import Row
from gateway.store.sql.sqlite import run
from gateway.store.sql.statements import Bulk, go_one_by_one
from gateway.store.tables import (
    AUDIT_RECORDS,
    JOB_ATTEMPTS,
    JOBS,
    KEPT,
    KEYED_CALLS,
    OPEN,
    RUNNING,
    TASKS,
)

_ADDED = Bulk(KEYED_CALLS, "ON CONFLICT (subject, key) DO NOTHING", returning="id")
_KEYED = KEYED_CALLS.c
_END = (
    update(KEYED_CALLS)
    .where(_KEYED.id == bindparam("of"))
    .values({_KEYED[name]: bindparam(f"new_{name}") for name in CallEnding.__struct_fields__})
)
_FORGOTTEN: Final[Mapping[str, Any]] = {"arguments": b"", "questions": None, "answers": None}
"""What nothing needs of a task that has ended."""
WAITING: Final = "waiting"
_C: Final = TASKS.c
_RECORDS: Final = AUDIT_RECORDS.c
_MILLISECOND: Final = len("01a208ef-fcc9")
"""The first characters of a UUIDv7: its time."""
_NOT_ENDED: Final = ("pending", "retryable", "processing", "waiting")
_OUTCOME: Final = CallEnding.__struct_fields__
_STORED: Final = tuple(
    name for name in NewTask.__struct_fields__ if name not in {"fingerprint", "call_id", "trace"}
)
_INSERT_TASK: Final = TASKS.insert().values({name: bindparam(name) for name in _STORED})
_END_TASK: Final = (
    update(TASKS)
    .where(TASKS.c.job_id == bindparam("of"))
    .values({name: bindparam(name) for name in (*_OUTCOME, *_FORGOTTEN)})
)
_OPEN_TASKS: Final = select(func.count().label("number")).select_from(
    select(literal(1))
    .where(OPEN, _C.subject == bindparam("subject"))
    .limit(bindparam("most"))
    .subquery()
)
_LARGE: Final = frozenset({"arguments", "body", "file", "questions", "answers"})
_EMPTY: Final = b""


class SqlKeyedCalls:
    """`KeyedCalls` in the table `keyed_calls`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, call: KeyedCall) -> KnownCall | None:
        async def add(connection: AsyncConnection, now: datetime) -> KnownCall | None:
            return await add_key(connection, call, now)

        return await self._database.write(add)

    async def end(self, call_id: str, ending: CallEnding) -> None:
        values = {f"new_{name}": value for name, value in msgspec.structs.asdict(ending).items()}
        values["of"] = call_id

        async def change_row(connection: AsyncConnection, _now: datetime) -> None:
            await run(connection, _END, values)

        await self._database.write(change_row)

    async def release(self, call_id: str) -> None:
        # The key of a call that became a job is the job's: it is freed when the job ends.
        own = _KEYED.id == call_id, _KEYED.job_id.is_(None)
        await self._database.run(delete(KEYED_CALLS).where(*own))

    async def extend(self, call_ids: Sequence[str], lease_seconds: float) -> None:
        running = update(KEYED_CALLS).where(_KEYED.id.in_(call_ids), RUNNING)

        async def change(connection: AsyncConnection, now: datetime) -> None:
            until = now + timedelta(seconds=lease_seconds)
            await connection.execute(running.values(lease_until=until))

        await self._database.write(change)

    async def cut_off(self, *, is_only_process: bool) -> None:
        # The job of a key ends by itself, and says how.
        running = update(KEYED_CALLS).where(RUNNING, _KEYED.job_id.is_(None))

        async def mark(connection: AsyncConnection, now: datetime) -> None:
            lost = running if is_only_process else running.where(_KEYED.lease_until < now)
            await connection.execute(lost.values(outcome="unknown"))

        await self._database.write(mark)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        async def remove(connection: AsyncConnection, now: datetime) -> int:
            before = now - timedelta(seconds=older_than_seconds)
            # A repetition of a call whose result is still kept gets that, and no second job.
            is_kept = exists().where(TASKS.c.job_id == _KEYED.job_id, KEPT)
            old = select(_KEYED.id).where(
                _KEYED.began_at < before, _KEYED.lease_until < now, ~is_kept
            )
            found = (await connection.execute(old.order_by(_KEYED.began_at).limit(limit))).scalars()
            ids = found.all()
            await connection.execute(delete(KEYED_CALLS).where(_KEYED.id.in_(ids)))
            return len(ids)

        return await self._database.write(remove)


class SqlTasks:
    """A `TaskStore` in the table `tasks`, with its jobs."""

    def __init__(self, database: Database, policy: WorkPolicy) -> None:
        self._database = database
        self._attempts = policy.jobs["task"].attempts

    async def earlier(self, task: NewTask) -> KnownCall | None:
        key = task.key
        if key is None:
            return None

        async def look(connection: AsyncConnection) -> KnownCall | None:
            now = await self._database.now(connection)
            return await find_key(connection, task.subject, key, now)

        return await self._database.read(look)

    async def add(self, task: NewTask, most: int) -> KnownCall | None:
        is_committing = False

        async def store(connection: AsyncConnection, now: datetime) -> KnownCall | None:
            nonlocal is_committing
            is_committing = False
            known = await _known_call(connection, task, now)
            if known is not None:
                return known
            await _require_room(connection, task.subject, most)
            await ADDED_JOBS.add(connection, [self._job(task, now)])
            await run(connection, _INSERT_TASK, _row(task))
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
            await ADDED_JOBS.add(connection, [row])
            await run(connection, _INSERT_TASK, _row(task))
            await _take_key(connection, task, now)
            return Claim(job=job_of(row), worker=worker)

        return await self._database.write(store)

    async def find(self, job_id: str, subject: str | None = None) -> StoredTask | None:
        rows, now = await self._database.rows_at(_TASK, {"of": job_id})
        found = [_stored_task(row, now) for row in rows]
        return found[0] if found and subject in {None, found[0].subject} else None

    async def marks(self, job_ids: Collection[str]) -> Mapping[str, TaskMark]:
        seen = JOBS.c.state, JOBS.c.updated_at, _C.progress, _C.progress_text
        query = select(JOBS.c.id, *seen).join(TASKS, JOBS.c.id == _C.job_id)

        async def look(connection: AsyncConnection) -> Mapping[str, TaskMark]:
            rows = await connection.execute(query.where(JOBS.c.id.in_(job_ids)))
            return {job_id: TaskMark(*values) for job_id, *values in rows}

        return await self._database.read(look)

    async def list(self, subject: str, page: Page) -> list[StoredTask]:
        query = _tasks(_LARGE).where(_C.subject == subject)
        if page.after is not None:
            query = query.where(_C.job_id < page.after)
        newest = query.order_by(_C.job_id.desc()).limit(page.limit)
        rows, now = await self._database.rows_at(newest)
        return [_stored_task(row, now) for row in rows]

    async def may_have_begun(self, job_id: str, unmade: Collection[tuple[str, str]]) -> bool:
        runs = _RECORDS.job_id == job_id, _RECORDS.transport == OF_JOBS
        ended = tuple_(_RECORDS.outcome, func.coalesce(_RECORDS.stage, ""))
        begun = select(_RECORDS.id).where(*runs, ended.not_in([*unmade]))
        proved = _waited(job_id), _submission(job_id).exists(), ~begun.exists()
        return not await self._database.rows(select(literal(1)).where(*proved))

    async def report(self, claim: Claim, progress: float, text: str) -> None:
        held = select(JOBS.c.id).where(is_held([claim]))
        change = update(TASKS).where(_C.job_id.in_(held))
        await self._database.run(change.values(progress=progress, progress_text=text))

    async def cancel(self, job_id: str, ending: CallEnding, actor: str) -> bool:
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
        return await self._database.write(lambda to, now: answer_task(to, job_id, answer, now))

    async def end_unanswered(self, older_than_seconds: float, limit: int) -> int:
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: end_unanswered(to, age, limit, now))

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: empty_tasks(to, age, limit, now))

    def _job(self, task: NewTask, now: datetime) -> dict[str, Any]:
        row = new_job(task.job_id, "task", task.job_id, task.operation, self._attempts, now)
        return {**row, "owner": task.subject, "trace": task.trace}


async def add_key(
    connection: AsyncConnection, call: KeyedCall, now: datetime, job_id: str | None = None
) -> KnownCall | None:
    """See `KeyedCalls.begin`. `job_id` is the job that the call becomes at once."""
    if await _ADDED.add(connection, [_keyed_row(call, now, job_id)]):
        return None
    first = select(KEYED_CALLS).where(_KEYED.subject == call.subject, _KEYED.key == call.key)
    (found,) = await run(connection, first)
    # After a serialisation failure this runs again. It must not find itself.
    return None if found["id"] == call.id else _known(found, now)


async def find_key(
    connection: AsyncConnection, subject: str, key: str, now: datetime
) -> KnownCall | None:
    """The call of a caller that has used the key, if any."""
    query = select(KEYED_CALLS).where(_KEYED.subject == subject, _KEYED.key == key)
    found = await run(connection, query)
    return _known(found[0], now) if found else None


def _keyed_row(call: KeyedCall, now: datetime, job_id: str | None) -> dict[str, object]:
    return {
        "id": call.id,
        "subject": call.subject,
        "key": call.key,
        "operation": call.operation,
        "fingerprint": call.fingerprint,
        "began_at": now,
        "lease_until": now + timedelta(seconds=call.lease_seconds),
        "outcome": None,
        "body": None,
        "file": None,
        "media_type": None,
        "backend": None,
        "job_id": job_id,
    }


def _known(row: Row, now: datetime) -> KnownCall:
    outcome = row["outcome"]
    ending = CallEnding(
        outcome=outcome,
        body=row["body"] or b"",
        file=row["file"],
        media_type=row["media_type"],
        backend=row["backend"],
    )
    return KnownCall(
        id=row["id"],
        fingerprint=row["fingerprint"],
        began_at=row["began_at"],
        left_seconds=(row["lease_until"] - now).total_seconds(),
        ending=None if outcome is None else ending,
        job_id=row["job_id"],
    )


async def settle_tasks(connection: AsyncConnection, settled: Sequence[TaskSettlement]) -> None:
    """Write how tasks ended. Their arguments are removed, and keys that they free."""
    for each in settled:
        values = {**msgspec.structs.asdict(each.ending), **_FORGOTTEN, "of": each.job_id}
        await run(connection, _END_TASK, values)
        if each.frees_key:
            await connection.execute(delete(KEYED_CALLS).where(KEYED_CALLS.c.job_id == each.job_id))


async def empty_tasks(
    connection: AsyncConnection, older_than: timedelta, limit: int, now: datetime
) -> int:
    """Remove what tasks that ended that long ago have kept. Returns how many."""
    before = now - older_than
    old = (
        select(TASKS.c.job_id)
        .join(JOBS, JOBS.c.id == TASKS.c.job_id)
        # The index of what is kept is by id, which has the time.
        .where(KEPT, TASKS.c.job_id < first_id(before))
        .where(JOBS.c.state.in_(ENDED), JOBS.c.updated_at < before)
    )
    found = await connection.execute(old.order_by(TASKS.c.job_id).limit(limit))
    ids = found.scalars().all()
    values = {**_FORGOTTEN, "body": None, "file": None, "emptied_at": now}
    if ids:
        await connection.execute(update(TASKS).where(TASKS.c.job_id.in_(ids)).values(values))
    return len(ids)


async def wait_for_answers(
    connection: AsyncConnection, claim: Claim, questions: bytes, given: bytes, now: datetime
) -> bool:
    """Let go of the job, with its questions. Its attempt does not count. False: it was not held."""
    moved = {"state": WAITING, "attempts": JOBS.c.attempts - 1, "error": None}
    rows = await let_go(connection, [claim], moved, Ending("waiting"), now)
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
    if ids:
        await connection.execute(update(JOBS).where(JOBS.c.id.in_(ids)).values(values))
    ended = [TaskSettlement(job_id=each, ending=CallEnding(outcome="cancelled")) for each in ids]
    await settle_tasks(connection, ended)
    return len(ids)


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
    found = await run(connection, _OPEN_TASKS, {"subject": subject, "most": most})
    if found[0]["number"] >= most:
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
    return {name: getattr(task, name) for name in _STORED}


def _tasks(left_out: frozenset[str] = frozenset()) -> Select[Any]:
    own = [
        (literal(_EMPTY) if column.name in left_out else column).label(f"task_{column.name}")
        for column in TASKS.columns
    ]
    return jobs_where().add_columns(*own).join(TASKS, JOBS.c.id == _C.job_id)


_TASK: Final = _tasks().where(_C.job_id == bindparam("of"))


def _stored_task(row: Row, now: datetime) -> StoredTask:
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
