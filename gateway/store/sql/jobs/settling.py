"""How tasks ended, written in the transaction of the transition of their jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.ids import first_id
from gateway.store.keyed import TaskSettlement
from gateway.store.sql.jobs.rows import ENDED
from gateway.store.tables.jobs import JOBS
from gateway.store.tables.keyed import KEYED_CALLS
from gateway.store.tables.tasks import KEPT, TASKS

_FORGOTTEN: Final[Mapping[str, Any]] = {"arguments": b"", "questions": None, "answers": None}
"""What nothing needs of a task that has ended."""


async def settle_tasks(connection: AsyncConnection, settled: Sequence[TaskSettlement]) -> None:
    """Write how tasks ended. Their arguments are removed, and keys that they free."""
    for each in settled:
        change = update(TASKS).where(TASKS.c.job_id == each.job_id)
        values = {**msgspec.structs.asdict(each.ending), **_FORGOTTEN}
        await connection.execute(change.values(values))
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
    await connection.execute(update(TASKS).where(TASKS.c.job_id.in_(ids)).values(values))
    return len(ids)
