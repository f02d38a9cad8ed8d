"""Everything that becomes true together with a job's transition."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Table
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.ids import uuid7
from gateway.store.endpoint_rows import note_outcome
from gateway.store.entity_rows import write_entities
from gateway.store.event_rows import insert_events
from gateway.store.job_rows import new_job
from gateway.store.receiving import receive_webhooks
from gateway.store.records import Changes, NewCall
from gateway.store.sql import insert_audit
from gateway.store.statements import as_json, insert_into
from gateway.store.tables_jobs import CALLS, JOBS


async def apply_changes(
    connection: AsyncConnection, tables: Mapping[str, Table], changes: Changes, now: datetime
) -> None:
    """Write `changes` in the caller's transaction, which has shown its claim before.

    Entities last but for what nobody waits for: their rows are what other workers may wait for.
    """
    if changes.webhooks:
        await receive_webhooks(connection, changes.webhooks, now)
    if changes.calls:
        await _add_calls(connection, changes.calls, now)
    if changes.delivery is not None:
        await note_outcome(connection, changes.delivery, now)
    if changes.audit is not None:
        await insert_audit(connection, [changes.audit])
    if changes.events:
        await insert_events(connection, changes.events, now)
    if changes.entities:
        await write_entities(connection, tables, changes.entities, now)


async def _add_calls(connection: AsyncConnection, calls: Sequence[NewCall], now: datetime) -> None:
    """A call that was asked for before is not made again."""
    for call in calls:
        row = {
            "id": call.id,
            "operation": call.operation,
            "arguments": as_json(call.arguments),
            "lane": call.lane,
            "created_at": now,
        }
        insertion = insert_into(connection, CALLS).values(row)
        added = await connection.execute(insertion.on_conflict_do_nothing(index_elements=["id"]))
        if added.rowcount == 1:
            job = new_job(uuid7(now), "call", call.id, call.lane, now)
            await connection.execute(JOBS.insert(), job)
