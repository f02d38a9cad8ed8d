"""Removes old data in small batches: bodies, then keys, and ended jobs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Column, Table, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.failpoints import hit
from gateway.ids import first_id
from gateway.store.sql.jobs.rows import ENDED
from gateway.store.tables.events import DELIVERIES
from gateway.store.tables.jobs import CALLS, HAS_ENDED, JOB_ATTEMPTS, JOBS
from gateway.store.tables.tasks import TASKS
from gateway.store.tables.webhooks import WEBHOOK_KEYS, WEBHOOKS

_PRUNED_KINDS: Final = ("delivery", "call", "task")
_EMPTY: Final = "{}"
FORGOTTEN_ARGUMENTS: Final = "null"
"""Stored in place of a call's arguments. Real arguments are an object, so they differ."""


async def prune_bodies(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove bodies and headers of webhooks whose job ended before then. Returns how many.

    A webhook that is being started again is skipped. A later start finds no body.
    """
    ended = (
        select(WEBHOOKS.c.id)
        .join(JOBS, JOBS.c.id == WEBHOOKS.c.job_id)
        .where(
            WEBHOOKS.c.body.is_not(None),
            # The index of bodies is by id, which has the time.
            WEBHOOKS.c.id < first_id(before),
            WEBHOOKS.c.received_at < before,
            JOBS.c.state.in_(ENDED),
            JOBS.c.updated_at < before,
        )
        .order_by(WEBHOOKS.c.id)
        .limit(limit)
        .with_for_update(of=WEBHOOKS, skip_locked=True)
    )
    ids = (await connection.execute(ended)).scalars().all()
    change = update(WEBHOOKS).where(WEBHOOKS.c.id.in_(ids))
    await connection.execute(change.values(body=None, headers=_EMPTY))
    hit("retention.before_commit")
    return len(ids)


async def prune_keys(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove webhooks without a body that came before then, with their keys and jobs.

    This also removes the ids of calls that were made before then. Returns how many webhooks.
    """
    old = select(WEBHOOKS.c.id).where(WEBHOOKS.c.body.is_(None), WEBHOOKS.c.received_at < before)
    oldest = old.order_by(WEBHOOKS.c.received_at).limit(limit)
    ids = (await connection.execute(oldest)).scalars().all()
    jobs = select(JOBS.c.id).where(JOBS.c.kind == "webhook", JOBS.c.subject.in_(ids))
    await _remove_jobs(connection, (await connection.execute(jobs)).scalars().all())
    await _remove(connection, WEBHOOK_KEYS.c.webhook_id, ids)
    await _remove(connection, WEBHOOKS.c.id, ids)
    await _prune_calls(connection, before, limit)
    hit("retention.before_commit")
    return len(ids)


async def prune_jobs(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Remove jobs of deliveries, calls and tasks that ended before then. Returns how many.

    A job that is being started again is skipped.
    """
    ended = (
        select(JOBS.c.id)
        .where(JOBS.c.kind.in_(_PRUNED_KINDS), HAS_ENDED, JOBS.c.updated_at < before)
        .order_by(JOBS.c.updated_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = (await connection.execute(ended)).scalars().all()
    calls = select(JOBS.c.subject).where(JOBS.c.kind == "call", JOBS.c.id.in_(ids))
    is_needed = exists().where(
        JOBS.c.kind == "call", JOBS.c.subject == CALLS.c.id, JOBS.c.id.not_in(ids)
    )
    # Keep the ids for some time: when a webhook is repeated, its calls must not be made again.
    emptied = update(CALLS).where(CALLS.c.id.in_(calls), ~is_needed)
    await connection.execute(emptied.values(arguments=FORGOTTEN_ARGUMENTS))
    await _remove(connection, DELIVERIES.c.job_id, ids)
    await _remove(connection, TASKS.c.job_id, ids)
    await _remove_jobs(connection, ids)
    hit("retention.before_commit")
    return len(ids)


async def _prune_calls(connection: AsyncConnection, before: datetime, limit: int) -> None:
    is_needed = exists().where(JOBS.c.subject == CALLS.c.id)
    old = select(CALLS.c.id).where(CALLS.c.created_at < before, ~is_needed)
    oldest = old.order_by(CALLS.c.created_at).limit(limit)
    await _remove(connection, CALLS.c.id, (await connection.execute(oldest)).scalars().all())


async def _remove_jobs(connection: AsyncConnection, ids: Sequence[str]) -> None:
    await _remove(connection, JOB_ATTEMPTS.c.job_id, ids)
    await _remove(connection, JOBS.c.id, ids)


async def _remove(connection: AsyncConnection, column: Column[str], values: Sequence[str]) -> None:
    table: Table = column.table
    if values:
        await connection.execute(delete(table).where(column.in_(values)))
