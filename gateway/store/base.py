"""The seam between the gateway and where its state lives: one small Protocol per aggregate."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct


class AuditRecord(Struct, frozen=True, kw_only=True):
    """The immutable account of one call; exactly one per call."""

    id: str
    """UUIDv7-like, sortable by time."""
    at: datetime
    request_id: str
    transport: str
    operation: str
    """The operation id, or what the caller asked for when there is none such (cut, printable)."""
    subject: str | None
    agent: str | None
    outcome: str
    """`ok`, or the problem code, such as `VALIDATION_ERROR`."""
    stage: str | None
    """The step that failed."""
    status: int
    """The HTTP status that says the same."""
    backend: str | None
    """Who was to answer: `live`, `mock` or `python`; None when the arguments were not admitted."""
    duration_ms: float
    arguments: dict[str, Any] | None
    """Redacted by `writeOnly` and `x-sensitive` of the contract; None when never admitted."""


class AgentKey(Struct, frozen=True, kw_only=True):
    """An agent's key as it is stored: never the key itself."""

    id: str
    """Public id, shown in lists and audit records."""
    agent: str
    label: str
    digest: str
    """SHA-256 of the key, hexadecimal. Keys carry 256 random bits, so no slow hash is needed."""
    created_at: datetime
    revoked_at: datetime | None = None


class AuditStore(Protocol):
    """Audit records, appended and read, never changed."""

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """Store all of them durably, or raise `StoreError`."""
        ...

    async def latest(self, limit: int) -> list[AuditRecord]:
        """The newest records, newest first."""
        ...


class KeyStore(Protocol):
    """Agent keys."""

    async def add(self, key: AgentKey) -> None: ...

    async def find(self, digest: str) -> AgentKey | None:
        """The key with this digest, revoked or not."""
        ...

    async def list(self) -> list[AgentKey]:
        """All keys, oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Whether there was such a key that was not revoked yet."""
        ...


class Store(Protocol):
    """All state behind one object, opened and closed once. Implementations: `sql`, `memory`."""

    @property
    def audit(self) -> AuditStore: ...

    @property
    def keys(self) -> KeyStore: ...

    async def close(self) -> None: ...
