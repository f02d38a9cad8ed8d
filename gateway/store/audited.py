"""Audit records of calls, and queries for them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, Protocol

from msgspec import Struct, field

from gateway.trace_context import current_trace_id

OK: Final = "ok"
PENDING: Final = "PENDING"
"""The outcome of a record that is stored before the call. The final outcome replaces it once."""
CUT_OFF: Final = "CUT_OFF"
"""The outcome of a pending record whose process ended: nobody knows whether the call had its
effect. If the process did not end after all, the final outcome replaces this one too."""
ACCEPTED: Final = 202
"""The status of a call whose outcome is not known yet: it is pending, or it became a job."""
OF_JOBS: Final = "job"
"""The transport of calls that jobs make."""
ANY_ERROR: Final = "error"
"""The outcome in a query that matches all failures."""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """The immutable record of one call. No call has two; `AuditLog` defines which have none."""

    id: str
    """A UUIDv7, so it sorts by time."""
    at: datetime
    request_id: str
    transport: str
    operation: str
    """The operation id. If there is no such operation, the text that the caller sent (truncated,
    printable)."""
    subject: str | None
    agent: str | None
    outcome: str
    """`ok`, the problem code, such as `VALIDATION_ERROR`, `PENDING`, or `CUT_OFF`."""
    stage: str | None
    """The step that failed; see `GatewayError.stage`."""
    status: int
    """The HTTP status of the outcome."""
    backend: str | None
    """The backend of the call: `live`, `mock` or `python`. None if the arguments were invalid."""
    duration_ms: float
    arguments: dict[str, Any] | None
    """Redacted by `writeOnly` and `x-sensitive` of the contract. None if they were invalid."""
    hidden_characters: int = 0
    """How many invisible characters were removed from the answer to the caller."""
    trace_id: str | None = field(default_factory=current_trace_id)
    """The trace that the call belongs to (W3C Trace Context). None if nothing named one."""
    job_id: str | None = None
    """The job that the call became, or that made it. None: there is none."""
    detail: str | None = None
    """Why the call failed, with what the upstream said. None: it has not failed."""


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Selects records. They must meet all conditions that are set."""

    limit: int = 50
    after: str | None = None
    """The id or cursor after which the page starts. None starts with the newest."""
    agent: str | None = None
    operation: str | None = None
    """An operation, or a prefix of one that ends with `*`."""
    outcome: str | None = None
    """An outcome, or `error` for every outcome but `ok` and `PENDING`."""
    job: str | None = None
    """The id of a job."""
    since: datetime | None = None
    """The earliest time, inclusive."""
    until: datetime | None = None
    """The latest time, exclusive."""


class AuditPage(Struct, frozen=True, kw_only=True):
    """A page of records, newest first."""

    records: tuple[AuditRecord, ...]
    next: str | None
    """The cursor of the next page, or None if there are no older records.

    An empty page can have a next one, because a query reads a limited number of records at a time.
    """


class AuditStore(Protocol):
    """Audit records. They are not changed, except that a pending one gets its outcome, once."""

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """Store all of them durably, or raise `StoreError`.

        A record that exists already is not changed. But if it is `PENDING` or `CUT_OFF`, the new
        one replaces it.
        """
        ...

    async def cut_off(self, older_than_seconds: float, limit: int) -> list[str]:
        """Give at most `limit` pending records of that age the outcome `CUT_OFF`. Returns ids."""
        ...

    async def latest(self, limit: int) -> list[AuditRecord]:
        """The newest records, newest first."""
        ...

    async def find(self, record_id: str) -> AuditRecord | None: ...

    async def page(self, query: AuditQuery) -> AuditPage:
        """The newest records that match `query`. The work is bounded for every query."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most `limit` records of that age. Returns how many."""
        ...
