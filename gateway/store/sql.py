"""State in a database, through two engines: many readers, one writer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import RowMapping, select, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.store.base import AgentKey, AuditRecord
from gateway.store.failures import failures
from gateway.store.tables import AGENT_KEYS, AUDIT_RECORDS


class SqlAudit:
    """Audit records in the table `audit_records`."""

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine) -> None:
        self._reader = reader
        self._writer = writer

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """One transaction. A record that is there stays, so a doubtful append can be repeated."""
        if not records:
            return
        rows = [_audit_row(record) for record in records]
        async with failures(), self._writer.begin() as connection:
            await connection.execute(insert(AUDIT_RECORDS).on_conflict_do_nothing(), rows)

    async def latest(self, limit: int) -> list[AuditRecord]:
        newest = select(AUDIT_RECORDS).order_by(AUDIT_RECORDS.c.id.desc()).limit(limit)
        async with failures(), self._reader.connect() as connection:
            rows = (await connection.execute(newest)).mappings().all()
        return [_audit_record(row) for row in rows]


class SqlKeys:
    """Keys in the table `agent_keys`."""

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine) -> None:
        self._reader = reader
        self._writer = writer

    async def add(self, key: AgentKey) -> None:
        async with failures(), self._writer.begin() as connection:
            await connection.execute(AGENT_KEYS.insert(), msgspec.structs.asdict(key))

    async def find(self, digest: str) -> AgentKey | None:
        sought = select(AGENT_KEYS).where(AGENT_KEYS.c.digest == digest)
        async with failures(), self._reader.connect() as connection:
            row = (await connection.execute(sought)).mappings().one_or_none()
        return None if row is None else AgentKey(**row)

    async def list(self) -> list[AgentKey]:
        oldest_first = select(AGENT_KEYS).order_by(AGENT_KEYS.c.created_at, AGENT_KEYS.c.id)
        async with failures(), self._reader.connect() as connection:
            rows = (await connection.execute(oldest_first)).mappings().all()
        return [AgentKey(**row) for row in rows]

    async def revoke(self, key_id: str, at: datetime) -> bool:
        unrevoked = AGENT_KEYS.c.revoked_at.is_(None)
        change = update(AGENT_KEYS).where(AGENT_KEYS.c.id == key_id, unrevoked)
        async with failures(), self._writer.begin() as connection:
            return (await connection.execute(change.values(revoked_at=at))).rowcount == 1


class SqlStore:
    """A `Store` in a database. Made by `open_store`."""

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine) -> None:
        self.audit = SqlAudit(reader, writer)
        self.keys = SqlKeys(reader, writer)
        self._engines = (reader, writer)

    async def close(self) -> None:
        """Close every connection; the last one folds the write-ahead log into the database."""
        for engine in self._engines:
            await engine.dispose()


def _audit_row(record: AuditRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    if record.arguments is not None:
        row["arguments"] = msgspec.json.encode(record.arguments).decode()
    return row


def _audit_record(row: RowMapping) -> AuditRecord:
    values = dict(row)
    if values["arguments"] is not None:
        values["arguments"] = msgspec.json.decode(values["arguments"])
    return AuditRecord(**values)
