"""Audit records and keys of both kinds in dictionaries, for tests of who uses a store."""

from collections.abc import Sequence
from datetime import UTC, datetime
from heapq import nlargest

from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.store.protocols import AgentKey
from gateway.store.records import (
    PENDING,
    AuditPage,
    AuditQuery,
    AuditRecord,
    CallEnding,
    KeyedCall,
    KnownCall,
)


class MemoryAudit:
    """Audit records in a dictionary."""

    def __init__(self) -> None:
        self._records: dict[str, AuditRecord] = {}

    async def append(self, records: Sequence[AuditRecord]) -> None:
        for record in records:
            known = self._records.get(record.id)
            if known is None or known.outcome == PENDING:
                self._records[record.id] = record

    async def latest(self, limit: int) -> list[AuditRecord]:
        return [self._records[record_id] for record_id in nlargest(limit, self._records)]

    async def find(self, record_id: str) -> AuditRecord | None:
        return self._records.get(record_id)

    async def page(self, query: AuditQuery) -> AuditPage:
        raise NotImplementedError("tests of the audit's pages ask a store that is shipped")

    async def cut_off(self, older_than_seconds: float, limit: int) -> list[str]:
        raise NotImplementedError("tests of this ask a store that is shipped")

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        raise NotImplementedError("tests of retention ask a store that is shipped")


class MemoryKeys:
    """Keys in a dictionary."""

    def __init__(self) -> None:
        self._keys: dict[str, AgentKey] = {}

    async def add(self, key: AgentKey) -> None:
        if key.id in self._keys or await self.find(key.digest) is not None:
            raise StoreError("this key exists already")
        self._keys[key.id] = key

    async def find(self, digest: str) -> AgentKey | None:
        return next((key for key in self._keys.values() if key.digest == digest), None)

    async def is_valid(self, key_id: str) -> bool:
        key = self._keys.get(key_id)
        return key is not None and key.revoked_at is None

    async def list(self) -> list[AgentKey]:
        return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    async def revoke(self, key_id: str, at: datetime) -> bool:
        key = self._keys.get(key_id)
        if key is None or key.revoked_at is not None:
            return False
        self._keys[key_id] = replace(key, revoked_at=at)
        return True


class MemoryKeyedCalls:
    """Calls with an idempotency key in a dictionary. Their leases do not end."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], KeyedCall] = {}
        self._endings: dict[str, CallEnding] = {}

    async def begin(self, call: KeyedCall) -> KnownCall | None:
        first = self._calls.setdefault((call.subject, call.key), call)
        if first is call:
            return None
        return KnownCall(
            id=first.id,
            fingerprint=first.fingerprint,
            began_at=datetime.now(UTC),
            left_seconds=first.lease_seconds,
            ending=self._endings.get(first.id),
        )

    async def end(self, call_id: str, ending: CallEnding) -> None:
        self._endings[call_id] = ending

    async def extend(self, call_ids: Sequence[str], lease_seconds: float) -> None:
        """The leases do not end."""

    async def cut_off(self, *, is_only_process: bool) -> None:
        raise NotImplementedError("tests of this ask a store that is shipped")

    async def release(self, call_id: str) -> None:
        self._calls = {name: call for name, call in self._calls.items() if call.id != call_id}

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        raise NotImplementedError("tests of retention ask a store that is shipped")


class MemoryStore:
    """All of them."""

    def __init__(self) -> None:
        self.audit = MemoryAudit()
        self.keys = MemoryKeys()
        self.keyed_calls = MemoryKeyedCalls()

    async def close(self) -> None:
        """Nothing is held."""
