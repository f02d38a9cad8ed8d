"""Writes everything that belongs to the transaction of a job's transition."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import compress

from msgspec import Struct
from sqlalchemy import Table, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.ids import uuid7
from gateway.job_policy import WorkPolicy
from gateway.store.records import RESTORED, Changes, NewCall
from gateway.store.sql.audit import insert_audit
from gateway.store.sql.entities.rows import write_entities
from gateway.store.sql.jobs.rows import new_job
from gateway.store.sql.jobs.settling import settle_tasks
from gateway.store.sql.messaging.endpoints import note_outcome
from gateway.store.sql.messaging.events import insert_events
from gateway.store.sql.messaging.receiving import receive_webhooks
from gateway.store.sql.statements import as_json, insert_into
from gateway.store.tables.jobs import CALLS, JOBS


class Target(Struct, frozen=True):
    """Where to write changes, and the policy for the jobs that they create."""

    entities: Mapping[str, Table]
    policy: WorkPolicy


async def apply_changes(
    connection: AsyncConnection, target: Target, changes: Sequence[Changes], now: datetime
) -> None:
    """Write `changes` in the caller's transaction, which has checked its claims before.

    Rows that other transactions may write too are always locked in the same order, so that there is
    no deadlock.
    """
    await _add_jobs(connection, target.policy, changes, now)
    outcomes = [each.delivery for each in changes if each.delivery is not None]
    for outcome in sorted(outcomes, key=lambda outcome: outcome.endpoint_id):
        await note_outcome(connection, outcome, now)
    await settle_tasks(connection, [each.task for each in changes if each.task is not None])
    if records := [each.audit for each in changes if each.audit is not None]:
        await insert_audit(connection, records)
    await insert_events(connection, [event for each in changes for event in each.events], now)
    if entities := [change for each in changes for change in each.entities]:
        await write_entities(connection, target.entities, entities, now)


async def _add_jobs(
    connection: AsyncConnection, policy: WorkPolicy, changes: Sequence[Changes], now: datetime
) -> None:
    marked = []
    if webhooks := [new for each in changes for new in each.webhooks]:
        attempts = policy.jobs["webhook"].attempts
        receipts = await receive_webhooks(connection, webhooks, attempts, now)
        restored = [each.is_restored for each in changes for _ in each.webhooks]
        marked = [receipt.webhook_id for receipt in compress(receipts, restored)]
    calls = [call for each in changes for call in each.calls]
    await _add_calls(connection, calls, policy.jobs["call"].attempts, now)
    marked += [call.id for each in changes if each.is_restored for call in each.calls]
    if marked:
        added = update(JOBS).where(JOBS.c.subject.in_(marked), JOBS.c.attempts == 0)
        await connection.execute(added.where(JOBS.c.actor.is_(None)).values(actor=RESTORED))


async def _add_calls(
    connection: AsyncConnection, calls: Sequence[NewCall], attempts: int, now: datetime
) -> None:
    """Add jobs for `calls`. A call whose id exists already is not added again."""
    for call in sorted(calls, key=lambda call: call.id):
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
            job = new_job(uuid7(now), "call", call.id, call.lane, attempts, now)
            await connection.execute(JOBS.insert(), {**job, "trace": call.trace})
