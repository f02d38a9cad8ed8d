"""What the store holds of a call that was made, and how it is asked for."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct

OK: Final = "ok"
PENDING: Final = "PENDING"
"""The outcome of a record that was stored before the act; its final outcome replaces it, once."""
ANY_ERROR: Final = "error"
"""As the outcome of a query: everything that has failed."""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """The immutable account of one call. No call has two; which have none, `AuditLog` says."""

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
    """`ok`, the problem code, such as `VALIDATION_ERROR`, or `PENDING`."""
    stage: str | None
    """The step that failed."""
    status: int
    """The HTTP status that says the same."""
    backend: str | None
    """Who was to answer: `live`, `mock` or `python`; None when the arguments were not admitted."""
    duration_ms: float
    arguments: dict[str, Any] | None
    """Redacted by `writeOnly` and `x-sensitive` of the contract; None when never admitted."""
    hidden_characters: int = 0
    """How many characters that no reader sees were removed from what the caller was answered."""


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Which records to read; every condition that is given must hold."""

    limit: int = 50
    after: str | None = None
    """The id or cursor to go on after; None for the newest."""
    agent: str | None = None
    operation: str | None = None
    """An operation, or the beginning of one and `*`."""
    outcome: str | None = None
    """An outcome, or `error` for every one but `ok` and `PENDING`."""
    since: datetime | None = None
    """Not older than this."""
    until: datetime | None = None
    """Older than this."""


class AuditPage(Struct, frozen=True, kw_only=True):
    """A part of the records, the newest first."""

    records: tuple[AuditRecord, ...]
    next: str | None
    """The cursor of the next page, or None when nothing older is left.

    A page can be empty and have a next one: a query reads a bounded number of records at a time.
    """
