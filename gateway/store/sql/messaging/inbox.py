"""Webhooks as they were received."""

import builtins
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, FromClause, Select, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.failpoints import hit
from gateway.job_policy import WorkPolicy
from gateway.store.publishing import Listed
from gateway.store.records import (
    JobState,
    Mismatch,
    NewWebhook,
    Page,
    Receipt,
    StoredWebhook,
)
from gateway.store.sql.database import Database
from gateway.store.sql.jobs.rows import JOB_COLUMNS, job_of
from gateway.store.sql.messaging.receiving import receive_webhooks
from gateway.store.sql.messaging.retention import prune_bodies, prune_keys
from gateway.store.sql.statements import as_json, read_page
from gateway.store.tables.jobs import JOBS
from gateway.store.tables.webhooks import WEBHOOKS

_JOB: Final = "job_"
_BODY: Final = "body"
_OWN: Final = tuple(
    WEBHOOKS.c[name] for name in StoredWebhook.__struct_fields__ if name not in {"job", _BODY}
)


class SqlInbox:
    """The tables `webhooks` and `webhook_keys`, and the jobs of webhooks."""

    def __init__(self, database: Database, policy: WorkPolicy) -> None:
        self._database = database
        self._attempts = policy.jobs["webhook"].attempts

    async def receive(self, messages: Sequence[NewWebhook]) -> list[Receipt]:
        if not messages:
            return []

        async def store(to: AsyncConnection, now: datetime) -> builtins.list[Receipt]:
            receipts = await receive_webhooks(to, messages, self._attempts, now)
            hit("ingest.before_commit")
            return receipts

        return await self._database.write(store)

    async def find(self, webhook_id: str) -> StoredWebhook | None:
        found = await self.find_all([webhook_id])
        return found[0] if found else None

    async def find_all(self, webhook_ids: Collection[str]) -> builtins.list[StoredWebhook]:
        found = _webhooks(WEBHOOKS.c.id.in_(webhook_ids)).add_columns(WEBHOOKS.c.body)
        return [_webhook(row) for row in await self._database.rows(found)]

    async def list(
        self,
        page: Page,
        *,
        provider: str | None = None,
        event_type: str | None = None,
        state: JobState | None = None,
    ) -> Listed[StoredWebhook]:
        indexed = [] if provider is None else [WEBHOOKS.c.provider == provider]
        if page.after is not None:
            indexed.append(WEBHOOKS.c.id < page.after)
        newest = _webhooks(*indexed).order_by(WEBHOOKS.c.id.desc())

        def rest(read: FromClause) -> Sequence[ColumnElement[bool]]:
            asked = ((read.c.event_type, event_type), (read.c[f"{_JOB}state"], state))
            return [column == value for column, value in asked if value is not None]

        rows, last = await self._database.read(lambda to: read_page(to, newest, rest, page.limit))
        return Listed(map(_webhook, rows), last)

    async def reconsider(
        self, webhook_id: str, refusals: Sequence[Mismatch], contract: str
    ) -> bool:
        async def revalidate(connection: AsyncConnection, now: datetime) -> bool:
            if not await _move(connection, webhook_id, now, is_admitted=not refusals):
                return False
            change = update(WEBHOOKS).where(WEBHOOKS.c.id == webhook_id)
            checked = change.values(refusals=as_json(refusals), contract=contract)
            await connection.execute(checked)
            return True

        return await self._database.write(revalidate)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: prune_bodies(to, now - age, limit))

    async def prune_keys(self, older_than_seconds: float, limit: int) -> int:
        age = timedelta(seconds=older_than_seconds)
        return await self._database.write(lambda to, now: prune_keys(to, now - age, limit))


def _webhooks(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Select webhooks without bodies."""
    job = (column.label(f"{_JOB}{column.name}") for column in JOB_COLUMNS)
    joined = select(*_OWN, *job).join_from(WEBHOOKS, JOBS, JOBS.c.id == WEBHOOKS.c.job_id)
    return joined.where(*conditions)


def _webhook(row: Mapping[Any, Any]) -> StoredWebhook:
    values = {column.name: row[column.name] for column in _OWN}
    return StoredWebhook(
        **{
            **values,
            "headers": msgspec.json.decode(values["headers"]),
            "refusals": msgspec.json.decode(values["refusals"], type=tuple[Mismatch, ...]),
        },
        body=row.get(_BODY),
        job=job_of(row, _JOB),
    )


async def _move(
    connection: AsyncConnection, webhook_id: str, now: datetime, *, is_admitted: bool
) -> bool:
    """Make a quarantined webhook pending if `is_admitted`.

    Returns whether it is quarantined and not a conflict.
    """
    checked = select(WEBHOOKS.c.job_id).where(WEBHOOKS.c.id == webhook_id, ~WEBHOOKS.c.is_conflict)
    waiting = update(JOBS).where(
        JOBS.c.id == checked.scalar_subquery(), JOBS.c.state == "quarantined"
    )
    values: dict[str, Any] = {"state": "pending", "run_at": now} if is_admitted else {}
    return (await connection.execute(waiting.values(**values, updated_at=now))).rowcount == 1
