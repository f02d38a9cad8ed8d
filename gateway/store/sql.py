"""Audit records and agent keys in a database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import RowMapping, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store.audited import AuditRecord
from gateway.store.base import AgentKey
from gateway.store.database import Database
from gateway.store.statements import as_json, insert_into
from gateway.store.tables import AGENT_KEYS, AUDIT_RECORDS

_TRIMMED_AFTER: Final = 1000


class SqlAudit:
    """Audit records in the table `audit_records`."""

    def __init__(self, database: Database, max_records: int | None = None) -> None:
        self._database = database
        self._max_records = max_records
        self._untrimmed = 0

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """One transaction. A record that is there stays, so a doubtful append can be repeated."""
        if not records:
            return

        async def add(connection: AsyncConnection, _now: datetime) -> None:
            await insert_audit(connection, records)
            self._untrimmed += len(records)
            if self._max_records is not None and self._untrimmed >= _TRIMMED_AFTER:
                await _trim(connection, self._max_records)
                self._untrimmed = 0

        await self._database.write(add)

    async def latest(self, limit: int) -> list[AuditRecord]:
        newest = select(AUDIT_RECORDS).order_by(AUDIT_RECORDS.c.id.desc()).limit(limit)

        async def find(connection: AsyncConnection) -> list[AuditRecord]:
            return [_audit_record(row) for row in (await connection.execute(newest)).mappings()]

        return await self._database.read(find)


class SqlKeys:
    """Keys in the table `agent_keys`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: AgentKey) -> None:
        async def insert(connection: AsyncConnection, _now: datetime) -> None:
            await connection.execute(AGENT_KEYS.insert(), msgspec.structs.asdict(key))

        await self._database.write(insert)

    async def find(self, digest: str) -> AgentKey | None:
        sought = select(AGENT_KEYS).where(AGENT_KEYS.c.digest == digest)

        async def find(connection: AsyncConnection) -> AgentKey | None:
            row = (await connection.execute(sought)).mappings().one_or_none()
            return None if row is None else AgentKey(**row)

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
    """Add records in the caller's transaction; those that are there stay as they are."""
    rows = [_audit_row(record) for record in records]
    await connection.execute(insert_into(connection, AUDIT_RECORDS).on_conflict_do_nothing(), rows)


async def _trim(connection: AsyncConnection, keep: int) -> None:
    ids = AUDIT_RECORDS.c.id
    newest_to_go = select(ids).order_by(ids.desc()).offset(keep).limit(1).scalar_subquery()
    await connection.execute(delete(AUDIT_RECORDS).where(ids <= newest_to_go))


def _audit_row(record: AuditRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    if record.arguments is not None:
        row["arguments"] = as_json(record.arguments)
    return row


def _audit_record(row: RowMapping) -> AuditRecord:
    values = dict(row)
    if values["arguments"] is not None:
        values["arguments"] = msgspec.json.decode(values["arguments"])
    return AuditRecord(**values)
