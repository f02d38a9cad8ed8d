"""What the store holds of a call that was made."""

from datetime import datetime
from typing import Any

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
