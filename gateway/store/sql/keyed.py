"""Calls with an idempotency key in a database."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import bindparam, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.keyed import CallEnding, KeyedCall, KnownCall
from gateway.store.sql.bulk import Bulk
from gateway.store.sql.database import Database
from gateway.store.sql.sqlite.connection import run
from gateway.store.sql.sqlite.plans import Row
from gateway.store.tables.keyed import KEYED_CALLS, RUNNING
from gateway.store.tables.tasks import KEPT, TASKS

_ADDED = Bulk(KEYED_CALLS, "ON CONFLICT (subject, key) DO NOTHING", returning="id")
_C = KEYED_CALLS.c
_END = (
    update(KEYED_CALLS)
    .where(_C.id == bindparam("of"))
    .values({_C[name]: bindparam(f"new_{name}") for name in CallEnding.__struct_fields__})
)


class SqlKeyedCalls:
    """Calls with an idempotency key in the table `keyed_calls`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, call: KeyedCall) -> KnownCall | None:
        """See `KeyedCalls`."""

        async def add(connection: AsyncConnection, now: datetime) -> KnownCall | None:
            return await add_key(connection, call, now)

        return await self._database.write(add)

    async def end(self, call_id: str, ending: CallEnding) -> None:
        """See `KeyedCalls`."""
        values = {f"new_{name}": value for name, value in msgspec.structs.asdict(ending).items()}
        values["of"] = call_id

        async def change_row(connection: AsyncConnection, _now: datetime) -> None:
            await run(connection, _END, values)

        await self._database.write(change_row)

    async def release(self, call_id: str) -> None:
        """See `KeyedCalls`."""
        # The key of a call that became a job is the job's: it is freed when the job ends.
        change = delete(KEYED_CALLS).where(_C.id == call_id, _C.job_id.is_(None))

        async def remove(connection: AsyncConnection, _now: datetime) -> None:
            await run(connection, change)

        await self._database.write(remove)

    async def extend(self, call_ids: Sequence[str], lease_seconds: float) -> None:
        """See `KeyedCalls`."""
        running = update(KEYED_CALLS).where(_C.id.in_(call_ids), RUNNING)

        async def change(connection: AsyncConnection, now: datetime) -> None:
            until = now + timedelta(seconds=lease_seconds)
            await connection.execute(running.values(lease_until=until))

        await self._database.write(change)

    async def cut_off(self, *, is_only_process: bool) -> None:
        """See `KeyedCalls`."""
        # The job of a key ends by itself, and says how.
        running = update(KEYED_CALLS).where(RUNNING, _C.job_id.is_(None))

        async def mark(connection: AsyncConnection, now: datetime) -> None:
            lost = running if is_only_process else running.where(_C.lease_until < now)
            await connection.execute(lost.values(outcome="unknown"))

        await self._database.write(mark)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """See `KeyedCalls`."""

        async def remove(connection: AsyncConnection, now: datetime) -> int:
            before = now - timedelta(seconds=older_than_seconds)
            # A repetition of a call whose result is still kept gets that, and no second job.
            is_kept = exists().where(TASKS.c.job_id == _C.job_id, KEPT)
            old = select(_C.id).where(_C.began_at < before, _C.lease_until < now, ~is_kept)
            found = (await connection.execute(old.order_by(_C.began_at).limit(limit))).scalars()
            ids = found.all()
            await connection.execute(delete(KEYED_CALLS).where(_C.id.in_(ids)))
            return len(ids)

        return await self._database.write(remove)


async def add_key(
    connection: AsyncConnection, call: KeyedCall, now: datetime, job_id: str | None = None
) -> KnownCall | None:
    """See `KeyedCalls.begin`. `job_id` is the job that the call becomes at once."""
    if await _ADDED.add(connection, [_row(call, now, job_id)]):
        return None
    first = select(KEYED_CALLS).where(_C.subject == call.subject, _C.key == call.key)
    (found,) = await run(connection, first)
    # After a serialisation failure this runs again. It must not find itself.
    return None if found["id"] == call.id else _known(found, now)


async def find_key(
    connection: AsyncConnection, subject: str, key: str, now: datetime
) -> KnownCall | None:
    """The call of a caller that has used the key, if any."""
    query = select(KEYED_CALLS).where(_C.subject == subject, _C.key == key)
    found = await run(connection, query)
    return _known(found[0], now) if found else None


def _row(call: KeyedCall, now: datetime, job_id: str | None) -> dict[str, object]:
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
