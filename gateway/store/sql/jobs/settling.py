"""How tasks ended, written in the transaction of the transition of their jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import delete, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.keyed import TaskSettlement
from gateway.store.tables.keyed import KEYED_CALLS
from gateway.store.tables.tasks import TASKS

FORGOTTEN: Final[Mapping[str, Any]] = {"arguments": b"", "questions": None, "answers": None}
"""What nothing needs of a task that has ended."""


async def settle_tasks(connection: AsyncConnection, settled: Sequence[TaskSettlement]) -> None:
    """Write how tasks ended. Their arguments are removed, and keys that they free."""
    for each in settled:
        change = update(TASKS).where(TASKS.c.job_id == each.job_id)
        values = {**msgspec.structs.asdict(each.ending), **FORGOTTEN}
        await connection.execute(change.values(values))
        if each.frees_key:
            await connection.execute(delete(KEYED_CALLS).where(KEYED_CALLS.c.job_id == each.job_id))
