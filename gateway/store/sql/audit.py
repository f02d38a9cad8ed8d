"""Audit records and agent keys in a database.

Records are added, and their pages are read, by SQLAlchemy Core: every call adds one, and a page may
read thousands.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, FromClause, Select, delete, func, update
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from gateway.ids import first_id
from gateway.store.protocols import AgentKey
from gateway.store.records import (
    ANY_ERROR,
    CUT_OFF,
    OK,
    PENDING,
    AuditPage,
    AuditQuery,
    AuditRecord,
)
from gateway.store.sql.database import Database
from gateway.store.sql.statements import Bulk, as_json, read_page
from gateway.store.tables import AGENT_KEYS, AUDIT_RECORDS, IS_PENDING, AuditRow, KeyRow

_TRIMMED_AFTER: Final = 1000
"""How many new records cause a trim of a database in memory."""
_SETTLED: Final = (
    "outcome",
    "stage",
    "status",
    "duration_ms",
    "arguments",
    "hidden_characters",
    "job_id",
    "detail",
)
"""The columns that change when a pending record gets its outcome."""
_ADDED: Final = Bulk(
    AUDIT_RECORDS,
    f"ON CONFLICT (id) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _SETTLED)}"
    f" WHERE audit_records.outcome IN ('{PENDING}', '{CUT_OFF}')",
)


class SqlAudit:
    """An `AuditStore` in the table `audit_records`."""

    def __init__(self, database: Database, max_records: int | None = None) -> None:
        self._database = database
        self._max_records = max_records
        self._untrimmed = 0

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """Add the records in one transaction.

        A record that exists already is kept, so an append with an unknown outcome can be repeated.
        """
        if not records:
            return

        async def add(connection: AsyncConnection, _now: datetime) -> None:
            await insert_audit(connection, records)
            self._untrimmed += len(records)
            if self._max_records is not None and self._untrimmed >= _TRIMMED_AFTER:
                await _trim(connection, self._max_records)
                self._untrimmed = 0

        await self._database.write(add)

    async def cut_off(self, older_than_seconds: float, limit: int) -> list[str]:
        ids = col(AuditRow.id)

        async def settle(connection: AsyncConnection, now: datetime) -> list[str]:
            # A clock that was set back makes ids that are old by the store's time.
            age = timedelta(seconds=older_than_seconds)
            before = first_id(min(now, self._database.machine_time) - age if age else now)
            old = select(AuditRow.id).where(IS_PENDING, ids < before).order_by(ids).limit(limit)
            found = list((await connection.execute(old)).scalars())
            if found:
                change = update(AuditRow).where(ids.in_(found), IS_PENDING)
                await connection.execute(change.values(outcome=CUT_OFF))
            return found

        return await self._database.write(settle)

    async def latest(self, limit: int) -> list[AuditRecord]:
        newest = select(AuditRow).order_by(col(AuditRow.id).desc()).limit(limit)
        return [_audit_record(row.model_dump()) for row in await self._database.models(newest)]

    async def find(self, record_id: str) -> AuditRecord | None:
        row = await self._database.model(AuditRow, record_id)
        return None if row is None else _audit_record(row.model_dump())

    async def page(self, query: AuditQuery) -> AuditPage:
        newest, rest = _newest(query), partial(_conditions, query)
        rows, last = await self._database.read(lambda to: read_page(to, newest, rest, query.limit))
        return AuditPage(records=tuple(map(_audit_record, rows)), next=last)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        return await self._database.prune(older_than_seconds, _remove, limit)


class SqlKeys:
    """Keys in the table `agent_keys`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: AgentKey) -> None:
        async def insert(session: AsyncSession, _now: datetime) -> None:
            session.add(KeyRow(**msgspec.structs.asdict(key)))

        await self._database.change(insert)

    async def find(self, digest: str) -> AgentKey | None:
        rows = await self._database.rows(AGENT_KEYS.select().where(AGENT_KEYS.c.digest == digest))
        return AgentKey(**rows[0]) if rows else None

    async def is_valid(self, key_id: str) -> bool:
        valid = AGENT_KEYS.select().where(*_is_valid(key_id))
        return bool(await self._database.rows(valid))

    async def list(self) -> list[AgentKey]:
        oldest_first = AGENT_KEYS.select().order_by(AGENT_KEYS.c.created_at, AGENT_KEYS.c.id)
        return [AgentKey(**row) for row in await self._database.rows(oldest_first)]

    async def revoke(self, key_id: str, at: datetime) -> bool:
        change = update(AGENT_KEYS).where(*_is_valid(key_id)).values(revoked_at=at)
        return bool(await self._database.run(change))


def _is_valid(key_id: str) -> tuple[ColumnElement[bool], ...]:
    return AGENT_KEYS.c.id == key_id, AGENT_KEYS.c.revoked_at.is_(None)


async def insert_audit(connection: AsyncConnection, records: Sequence[AuditRecord]) -> None:
    """Add records in the caller's transaction. Existing ones are kept, except pending ones and
    those that were cut off."""
    # A statement cannot change a row twice (PostgreSQL): the outcome replaces its pending record.
    latest = {record.id: record for record in records}
    await _ADDED.add(connection, list(map(_audit_row, latest.values())))


def _newest(query: AuditQuery) -> Select[Any]:
    """The records that one page may read, selected only by their ids."""
    ids = AUDIT_RECORDS.c.id
    bounds = [
        ids < bound
        for bound in (query.after, first_id(query.until) if query.until else None)
        if bound is not None
    ]
    if query.since is not None:
        bounds.append(ids >= first_id(query.since))
    return AUDIT_RECORDS.select().where(*bounds).order_by(ids.desc())


def _conditions(query: AuditQuery, read: FromClause) -> list[ColumnElement[bool]]:
    conditions = []
    if query.agent is not None:
        conditions.append(read.c.agent == query.agent)
    if query.operation is not None:
        start = query.operation.removesuffix("*")
        is_prefix = start != query.operation
        column = read.c.operation
        # Not LIKE, which ignores case on SQLite alone.
        begins = func.substr(column, 1, len(start)) == start
        conditions.append(begins if is_prefix else column == query.operation)
    if query.job is not None:
        conditions.append(read.c.job_id == query.job)
    if query.outcome == ANY_ERROR:
        conditions.append(read.c.outcome.not_in((OK, PENDING)))
    elif query.outcome is not None:
        conditions.append(read.c.outcome == query.outcome)
    return conditions


async def _remove(connection: AsyncConnection, before: datetime, limit: int) -> int:
    ids = col(AuditRow.id)
    old = select(AuditRow.id).where(ids < first_id(before)).order_by(ids).limit(limit)
    found = (await connection.execute(old)).scalars().all()
    await connection.execute(delete(AuditRow).where(ids.in_(found)))
    return len(found)


async def _trim(connection: AsyncConnection, keep: int) -> None:
    ids = col(AuditRow.id)
    newest_removed = (
        select(AuditRow.id).order_by(ids.desc()).offset(keep).limit(1).scalar_subquery()
    )
    await connection.execute(delete(AuditRow).where(ids <= newest_removed))


def _audit_row(record: AuditRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    if record.arguments is not None:
        row["arguments"] = as_json(record.arguments)
    return row


def _audit_record(row: Mapping[Any, Any]) -> AuditRecord:
    values = dict(row)
    if values["arguments"] is not None:
        values["arguments"] = msgspec.json.decode(values["arguments"])
    return AuditRecord(**values)
