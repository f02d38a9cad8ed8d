"""The store's records of webhooks, jobs, events, endpoints and deliveries. They are frozen.

All times are by the store's own clock. Callers give durations from now, so clocks are never
compared.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct, field

from gateway.job_policy import JobKind
from gateway.store.audited import AuditRecord
from gateway.store.keyed import TaskSettlement
from gateway.trace_context import current_parent

JobState = Literal[
    "pending",
    "processing",
    "completed",
    "retryable",
    "dead_letter",
    "quarantined",
    "cancelled",
    "waiting",
]
"""`waiting` is a task that waits for answers of its client. `retryable` waits for its next attempt.
`completed`, `dead_letter` and `cancelled` are final."""
ENDPOINT_DISABLED: Final = "endpoint_disabled"
"""`Job.error` of a delivery that ended because its endpoint was disabled."""
LEASE_EXPIRED: Final = "lease_expired"
"""The error of a job whose lease ended before its worker reported an outcome."""
RESTORED: Final = "gateway restore"
"""`Job.actor` of a job that had not ended when a backup was made that is restored, and of the jobs
that it adds. It may have run between the backup and the restore."""


class Mismatch(Struct, frozen=True, kw_only=True):
    """A place where a payload breaks its contract. It does not contain the value."""

    pointer: str
    detail: str


class NewWebhook(Struct, frozen=True, kw_only=True):
    """An authentic message to be stored."""

    provider: str
    profile: str
    message_id: str
    event_type: str
    """The type in the message, cut to 200 characters. Empty if it has none."""
    body: bytes
    """The exact bytes that were received."""
    headers: Mapping[str, str]
    """The headers that the contract keeps."""
    contract: str
    refusals: tuple[Mismatch, ...] = ()
    """Why it is quarantined. Empty if it is pending."""
    derived_from: str | None = None
    """The id of the webhook whose fetched content contained this message."""
    signed_sha256: str | None = None
    """The digest of the signed bytes, if they do not include the message's id. Then messages with
    the same digest are the same message, also under different ids."""
    trace: str | None = field(default_factory=current_parent)
    """See `Job.trace`."""


class Receipt(Struct, frozen=True, kw_only=True):
    """The outcome of receiving a message."""

    outcome: Literal["stored", "quarantined", "duplicate", "conflict"]
    webhook_id: str
    """For a duplicate, the webhook of the first message with this id. For a conflict, the row that
    keeps the different body."""


class StoredWebhook(Struct, frozen=True, kw_only=True):
    """A message as it was received, with its job."""

    id: str
    """A UUIDv7, so it sorts by arrival."""
    provider: str
    profile: str
    message_id: str
    event_type: str
    body: bytes | None
    """None in lists and after retention has removed it."""
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
    """The id of the webhook, of the delivery, or of the row with the arguments. For a task, this is
    the id of the job."""
    lane: str
    """The provider of a webhook, the endpoint of a delivery, or the operation of a call or a task.
    Workers share their slots fairly among lanes. Jobs of one lane may run at the same time."""
    state: JobState
    attempts: int
    """Counted at each claim. So a payload that kills its worker is not tried forever."""
    max_attempts: int
    run_at: datetime
    lease_until: datetime | None
    claim_seq: int
    """Grows by one at each claim. Every transition must present it."""
    claimed_by: str | None
    error: str | None
    """The class of the last failure, such as `lease_expired`. It never contains a payload."""
    replay_of: str | None
    """The job that this one repeats."""
    actor: str | None
    """Who started the job again or cancelled it."""
    created_at: datetime
    updated_at: datetime
    trace: str | None = None
    """The `traceparent` of the work that caused it, if that belongs to a trace."""


class Backlog(Struct, frozen=True, kw_only=True):
    """Jobs of one kind that wait or run, or that ended as dead letters."""

    kind: JobKind
    state: JobState
    count: int
    oldest_seconds: float
    """How long the oldest has been due, has run, or has been a dead letter. Not below 0."""


class WorkLeft(Struct, frozen=True, kw_only=True):
    """What waits for any process to do it."""

    has_due_jobs: bool
    has_events: bool
    """Whether events have no position yet."""


class Attempt(Struct, frozen=True, kw_only=True):
    """One ended attempt of a job."""

    job_id: str
    claim_seq: int
    worker: str
    started_at: datetime
    ended_at: datetime
    outcome: str
    """`completed`, `failed`, `dead_letter`, `released`, `waiting`, `cancelled` or
    `lease_expired`."""
    error: str | None
    detail: str | None
    """Details for the operator: a reason, a status, the beginning of a redacted reply."""


class Claim(Struct, frozen=True, kw_only=True):
    """A worker's hold on a job until its lease ends."""

    job: Job
    worker: str


class Failure(Struct, frozen=True, kw_only=True):
    """Why an attempt failed, without payload."""

    error: str
    """A class such as `upstream_unavailable`."""
    detail: str | None = None


class EntityChange(Struct, frozen=True, kw_only=True):
    """A row to write."""

    kind: str
    values: Mapping[str, Any]
    """Canonical values by column, including the key."""
    mode: Literal["upsert", "create"]
    webhook_id: str
    occurred_at: datetime
    """When it happened. Each column keeps the value with the later time."""


class NewEvent(Struct, frozen=True, kw_only=True):
    """An event to publish. It is published when its transaction has committed."""

    id: str
    """A UUIDv5 of the cause, so it is the same in every attempt."""
    type: str
    subject: str
    source: str
    """The CloudEvents `source`, for example `/webhooks/<provider>`."""
    data: Mapping[str, Any]
    webhook_id: str | None = None
    trace: str | None = field(default_factory=current_parent)
    """See `Job.trace`."""


class StoredEvent(Struct, frozen=True, kw_only=True):
    """An event in the log."""

    position: int
    """The number of the event in order of publication, without gaps. Followers use it as cursor."""
    id: str
    type: str
    subject: str
    source: str
    time: datetime
    data: Mapping[str, Any]
    webhook_id: str | None
    trace: str | None = None
    """See `Job.trace`."""


class NewCall(Struct, frozen=True, kw_only=True):
    """A call of one of the gateway's own operations, which runs as a job."""

    id: str
    """The same in every attempt. It is also the idempotency key of the call."""
    operation: str
    arguments: Mapping[str, Any]
    lane: str
    trace: str | None = field(default_factory=current_parent)
    """See `Job.trace`."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """A subscriber's URL for events."""

    id: str
    url: str
    description: str
    event_types: tuple[str, ...]
    """Types, or prefixes that end with `*`. Empty means all types."""
    secret: bytes
    """The secret, encrypted. `previous_secret` is encrypted too."""
    previous_secret: bytes | None
    previous_until: datetime | None
    state: Literal["active", "disabled"]
    disabled_because: str | None
    failing_since: datetime | None
    created_at: datetime
    updated_at: datetime
    filter: Mapping[str, Any] | None = None
    """A JSON Schema for the data of its events. None: any data."""
    headers: Mapping[str, bytes] = {}
    """Its own header fields: encrypted values by name in lower case."""


class Delivery(Struct, frozen=True, kw_only=True):
    """One event for one endpoint. Its job has the state and the attempts."""

    id: str
    endpoint_id: str
    event: StoredEvent
    job: Job


class DeliveryOutcome(Struct, frozen=True, kw_only=True):
    """What an attempt to deliver shows about its endpoint."""

    endpoint_id: str
    is_success: bool
    disable_because: str | None = None


class Changes(Struct, frozen=True, kw_only=True):
    """Everything that is written in the same transaction as a job's transition."""

    entities: tuple[EntityChange, ...] = ()
    events: tuple[NewEvent, ...] = ()
    webhooks: tuple[NewWebhook, ...] = ()
    """Derived messages. Duplicates are dropped in the same way as for received messages."""
    calls: tuple[NewCall, ...] = ()
    delivery: DeliveryOutcome | None = None
    audit: AuditRecord | None = None
    task: TaskSettlement | None = None
    is_restored: bool = False
    """Whether the job is `RESTORED`. Those that it adds are too."""

    def without_events(self) -> "Changes":
        """The changes of a failure without its events, for when the events are refused."""
        return Changes(delivery=self.delivery, audit=self.audit, task=self.task)


class Page(Struct, frozen=True):
    """A page of a list: at most `limit` rows after the row with the id `after`."""

    limit: int = 50
    after: str | None = None
