"""Audit records and agent keys in a database."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, FromClause, RowMapping, Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

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
from gateway.store.tables import AGENT_KEYS, AUDIT_RECORDS, IS_PENDING

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
    """Audit records in the table `audit_records`."""

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
        """See `AuditStore`."""
        ids = AUDIT_RECORDS.c.id

        async def settle(connection: AsyncConnection, now: datetime) -> list[str]:
            # A clock that was set back makes ids that are old by the store's time.
            age = timedelta(seconds=older_than_seconds)
            before = first_id(min(now, self._database.machine_time) - age if age else now)
            old = select(ids).where(IS_PENDING, ids < before).order_by(ids).limit(limit)
            found = list((await connection.execute(old)).scalars())
            change = update(AUDIT_RECORDS).where(ids.in_(found), IS_PENDING)
            await connection.execute(change.values(outcome=CUT_OFF))
            return found

        return await self._database.write(settle)

    async def latest(self, limit: int) -> list[AuditRecord]:
        newest = select(AUDIT_RECORDS).order_by(AUDIT_RECORDS.c.id.desc()).limit(limit)

        async def find(connection: AsyncConnection) -> list[AuditRecord]:
            return [_audit_record(row) for row in (await connection.execute(newest)).mappings()]

        return await self._database.read(find)

    async def find(self, record_id: str) -> AuditRecord | None:
        query = select(AUDIT_RECORDS).where(AUDIT_RECORDS.c.id == record_id)
        rows = await self._database.rows(query)
        return _audit_record(rows[0]) if rows else None

    async def page(self, query: AuditQuery) -> AuditPage:
        newest, rest = _newest(query), partial(_conditions, query)
        rows, last = await self._database.read(lambda to: read_page(to, newest, rest, query.limit))
        return AuditPage(records=tuple(map(_audit_record, rows)), next=last)

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        ids = AUDIT_RECORDS.c.id

        async def remove(connection: AsyncConnection, now: datetime) -> int:
            before = first_id(now - timedelta(seconds=older_than_seconds))
            old = select(ids).where(ids < before).order_by(ids).limit(limit)
            found = (await connection.execute(old)).scalars().all()
            await connection.execute(delete(AUDIT_RECORDS).where(ids.in_(found)))
            return len(found)

        return await self._database.write(remove)


class SqlKeys:
    """Keys in the table `agent_keys`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: AgentKey) -> None:
        async def insert(connection: AsyncConnection, _now: datetime) -> None:
            await connection.execute(AGENT_KEYS.insert(), msgspec.structs.asdict(key))

        await self._database.write(insert)

    async def find(self, digest: str) -> AgentKey | None:
        query = select(AGENT_KEYS).where(AGENT_KEYS.c.digest == digest)

        async def find(connection: AsyncConnection) -> AgentKey | None:
            row = (await connection.execute(query)).mappings().one_or_none()
            return None if row is None else AgentKey(**row)

        return await self._database.read(find)

    async def is_valid(self, key_id: str) -> bool:
        unrevoked = AGENT_KEYS.c.revoked_at.is_(None)
        query = select(AGENT_KEYS.c.id).where(AGENT_KEYS.c.id == key_id, unrevoked)

        async def find(connection: AsyncConnection) -> bool:
            return (await connection.execute(query)).one_or_none() is not None

        return await self._database.read(find)

    async def list(self) -> list[AgentKey]:
        oldest_first = select(AGENT_KEYS).order_by(AGENT_KEYS.c.created_at, AGENT_KEYS.c.id)

        async def find(connection: AsyncConnection) -> list[AgentKey]:
            return [AgentKey(**row) for row in (await connection.execute(oldest_first)).mappings()]

        return await self._database.read(find)

    async def revoke(self, key_id: str, at: datetime) -> bool:
        unrevoked = AGENT_KEYS.c.revoked_at.is_(None)
        change = update(AGENT_KEYS).where(AGENT_KEYS.c.id == key_id, unrevoked)

        async def mark(connection: AsyncConnection, _now: datetime) -> bool:
            return (await connection.execute(change.values(revoked_at=at))).rowcount == 1

        return await self._database.write(mark)


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
    return select(AUDIT_RECORDS).where(*bounds).order_by(ids.desc())


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


async def _trim(connection: AsyncConnection, keep: int) -> None:
    ids = AUDIT_RECORDS.c.id
    newest_removed = select(ids).order_by(ids.desc()).offset(keep).limit(1).scalar_subquery()
    await connection.execute(delete(AUDIT_RECORDS).where(ids <= newest_removed))


def _audit_row(record: AuditRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    if record.arguments is not None:
        row["arguments"] = as_json(record.arguments)
    return row


def _audit_record(row: RowMapping | Mapping[str, Any]) -> AuditRecord:
    values = dict(row)
    if values["arguments"] is not None:
        values["arguments"] = msgspec.json.decode(values["arguments"])
    return AuditRecord(**values)
