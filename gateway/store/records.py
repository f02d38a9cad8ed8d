"""What the store holds of webhooks, work, events, endpoints and deliveries, as frozen records.

All times are the store's own clock: callers say how long from now, and never compare clocks.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.job_policy import JobKind
from gateway.store.audited import AuditRecord

JobState = Literal[
    "pending", "processing", "completed", "retryable", "dead_letter", "quarantined", "cancelled"
]
"""`retryable` waits for its next attempt; `completed`, `dead_letter` and `cancelled` are ends."""
ENDPOINT_DISABLED: Final = "endpoint_disabled"
"""`Job.error` of a delivery that ended because its endpoint was disabled."""
LEASE_EXPIRED: Final = "lease_expired"
"""The error of a job whose claim ended without a word of its worker."""


class Mismatch(Struct, frozen=True, kw_only=True):
    """A place where a payload breaks its contract; never the value."""

    pointer: str
    detail: str


class NewWebhook(Struct, frozen=True, kw_only=True):
    """A message whose proof was good, to be stored."""

    provider: str
    profile: str
    message_id: str
    event_type: str
    """As the message says, cut to 200 characters; empty where it does not say."""
    body: bytes
    """As received, to the byte."""
    headers: Mapping[str, str]
    """Those that the contract keeps."""
    contract: str
    refusals: tuple[Mismatch, ...] = ()
    """Why it is quarantined; empty for one that is pending."""
    derived_from: str | None = None
    """Id of the webhook in whose fetched content it was found."""
    signed_sha256: str | None = None
    """Digest of what its proof covers, where that leaves its id out: the same under another id is
    the same message."""


class Receipt(Struct, frozen=True, kw_only=True):
    """What became of an arrival."""

    outcome: Literal["stored", "quarantined", "duplicate", "conflict"]
    webhook_id: str
    """Of the first message with this id where it is a duplicate; of the row in which the other body
    is kept where it is a conflict."""


class StoredWebhook(Struct, frozen=True, kw_only=True):
    """A message as it was received, and how far its work is."""

    id: str
    """UUIDv7: sorted by arrival."""
    provider: str
    profile: str
    message_id: str
    event_type: str
    body: bytes | None
    """None in lists, and when retention has removed it."""
    body_sha256: str
    headers: Mapping[str, str]
    contract: str
    received_at: datetime
    derived_from: str | None
    is_conflict: bool
    refusals: tuple[Mismatch, ...]
    job: "Job"
    """Its newest attempt set."""


class Job(Struct, frozen=True, kw_only=True):
    """A unit of work: one attempt set."""

    id: str
    kind: JobKind
    subject: str
    """Id of the webhook, of the delivery, or of the call's arguments' row (its own id)."""
    lane: str
    """The provider or the endpoint: lanes share workers fairly."""
    state: JobState
    attempts: int
    """Counted when claimed, so that a payload that kills its worker comes to an end."""
    max_attempts: int
    run_at: datetime
    lease_until: datetime | None
    claim_seq: int
    """One more at each claim: the token that every transition must show."""
    claimed_by: str | None
    error: str | None
    """Class of the last failure, such as `lease_expired`; never a payload."""
    replay_of: str | None
    """The job that this one repeats."""
    actor: str | None
    """Who asked for the repetition, or ended it."""
    created_at: datetime
    updated_at: datetime


class Attempt(Struct, frozen=True, kw_only=True):
    """One ended attempt of a job."""

    job_id: str
    claim_seq: int
    worker: str
    started_at: datetime
    ended_at: datetime
    outcome: str
    """`completed`, `failed`, `dead_letter`, `released` or `lease_expired`."""
    error: str | None
    detail: str | None
    """What an operator may know of it: a reason, a status, the beginning of a redacted reply."""


class Claim(Struct, frozen=True, kw_only=True):
    """A worker's hold on a job until its lease ends."""

    job: Job
    worker: str


class Failure(Struct, frozen=True, kw_only=True):
    """Why an attempt failed, in words without payload."""

    error: str
    """A class such as `upstream_unavailable`."""
    detail: str | None = None


class EntityChange(Struct, frozen=True, kw_only=True):
    """A row to be written."""

    kind: str
    values: Mapping[str, Any]
    """Canonical values by column, the key among them."""
    mode: Literal["upsert", "create"]
    webhook_id: str
    occurred_at: datetime
    """A row that knows something later keeps it: then only columns without a value are filled."""


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event to be published; it is one when its transaction has committed."""

    id: str
    """Stable over attempts: a UUIDv5 of what caused it."""
    type: str
    subject: str
    source: str
    """CloudEvents `source`, `/webhooks/<provider>` for example."""
    data: Mapping[str, Any]
    webhook_id: str | None = None


class StoredEvent(Struct, frozen=True, kw_only=True):
    """An event in the log."""

    position: int
    """Dense and in order of publication: the cursor of everybody who follows the log."""
    id: str
    type: str
    subject: str
    source: str
    time: datetime
    data: Mapping[str, Any]
    webhook_id: str | None


class NewCall(Struct, frozen=True, kw_only=True):
    """A call of one of the gateway's own operations, to be run as a job."""

    id: str
    """Stable over attempts; also the call's idempotency key."""
    operation: str
    arguments: Mapping[str, Any]
    lane: str


class Endpoint(Struct, frozen=True, kw_only=True):
    """A subscriber's URL for events."""

    id: str
    url: str
    description: str
    event_types: tuple[str, ...]
    """Types, or prefixes that end with `*`; empty for all."""
    secret: bytes
    """Encrypted, as is `previous_secret`."""
    previous_secret: bytes | None
    previous_until: datetime | None
    state: Literal["active", "disabled"]
    disabled_because: str | None
    failing_since: datetime | None
    created_at: datetime
    updated_at: datetime


class Delivery(Struct, frozen=True, kw_only=True):
    """One event for one endpoint. Its work is its job's."""

    id: str
    endpoint_id: str
    event: StoredEvent
    job: Job


class DeliveryOutcome(Struct, frozen=True, kw_only=True):
    """What an attempt to deliver says of its endpoint."""

    endpoint_id: str
    is_success: bool
    disable_because: str | None = None


class Changes(Struct, frozen=True, kw_only=True):
    """Everything that becomes true together with a job's transition, in one transaction."""

    entities: tuple[EntityChange, ...] = ()
    events: tuple[NewEvent, ...] = ()
    webhooks: tuple[NewWebhook, ...] = ()
    """Derived messages; duplicates are dropped as they are on arrival."""
    calls: tuple[NewCall, ...] = ()
    delivery: DeliveryOutcome | None = None
    audit: AuditRecord | None = None

    def without_events(self) -> "Changes":
        """What is left of those of a failure when its events are refused."""
        return Changes(delivery=self.delivery, audit=self.audit)


class Page(Struct, frozen=True):
    """Where a list goes on: at most `limit` rows after the one with `after`."""

    limit: int = 50
    after: str | None = None
