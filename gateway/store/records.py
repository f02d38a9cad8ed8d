"""What the store keeps, as immutable records: webhooks, jobs, calls, events and the audit."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct, field

from gateway.job_policy import JobKind
from gateway.trace_context import current_parent, current_trace_id

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


class KeyedCall(Struct, frozen=True, kw_only=True):
    """A call that may change something, and the key under which its caller may repeat it."""

    id: str
    """The id of its audit record."""
    subject: str
    """Each caller has its own keys."""
    key: str
    operation: str
    fingerprint: str
    """A digest of the operation and its arguments."""
    lease_seconds: float
    """A call that has not ended by then, and whose lease was not extended, was cut off."""


class CallEnding(Struct, frozen=True, kw_only=True):
    """How a call ended. A repetition gets the same."""

    outcome: Literal["result", "problem", "unknown", "too_large", "cancelled"]
    """`unknown`: the call may have changed something, and nobody knows. `too_large`: it succeeded,
    and its result was too large to be kept. `cancelled`: it was not made, or it only read."""
    body: bytes = b""
    """The result or the problem, as JSON text. A second line is what the answer says beside it."""
    file: bytes | None = None
    """The bytes of a result that is a file."""
    media_type: str | None = None
    """The media type of `file`."""
    backend: str | None = None
    """The backend of a result."""


class TaskSettlement(Struct, frozen=True, kw_only=True):
    """How the task of a job ended. It is written in the transaction of the job's transition."""

    job_id: str
    ending: CallEnding
    frees_key: bool = False
    """Whether the call changed nothing, so that its key may be used for another attempt."""


class KnownCall(Struct, frozen=True, kw_only=True):
    """The call that has used a key before."""

    id: str
    fingerprint: str
    began_at: datetime
    left_seconds: float
    """How long it may still run. 0 or less: it was cut off, or it has ended."""
    ending: CallEnding | None
    """None while it runs, and if it was cut off."""
    job_id: str | None = None
    """The job that the call became. The other members do not describe a job."""


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


class NewTask(Struct, frozen=True, kw_only=True):
    """A call that becomes a job. Its arguments are valid, and its caller has the grant."""

    job_id: str
    """It cannot be guessed."""
    subject: str
    """The owner. For all others, the job does not exist."""
    agent: str
    operation: str
    arguments: bytes
    """JSON text."""
    is_read: bool
    """Whether the call only reads, so that it can be made again."""
    time_limit_seconds: float | None = None
    max_attempts: int | None = None
    """The limits that the caller sets below those of the contract."""
    key: str | None = None
    """The idempotency key. A repetition of the call gets the same job."""
    fingerprint: str = ""
    """A digest of the operation and its arguments, for calls with a key."""
    call_id: str = ""
    """The call that has the key, for a call that runs already: see `KeyedCall.id`."""
    asks: str = ""
    """What its client can be asked while it is a job, separated by spaces."""
    answers: bytes | None = None
    """What the client has answered so far, as JSON text."""
    trace: str | None = field(default_factory=current_parent)
    """See `Job.trace`."""


class TaskMark(Struct, frozen=True):
    """What changes whenever the owner of a task can see something new."""

    state: str
    updated_at: datetime
    progress: float | None
    progress_text: str | None


class StoredTask(Struct, frozen=True, kw_only=True):
    """A task with its job."""

    job: Job
    subject: str
    agent: str
    operation: str
    arguments: bytes
    """Empty when the job has ended: nothing needs them any more."""
    is_read: bool
    time_limit_seconds: float | None
    max_attempts: int | None
    key: str | None
    progress: float | None
    """How far the call is. None if it has not reported this."""
    progress_text: str | None
    """What the progress counts."""
    asks: str | None
    """See `NewTask.asks`. None if an older gateway has stored the task."""
    questions: bytes | None
    """The open questions, as JSON text. Empty in lists."""
    answers: bytes | None
    """The answers so far, as JSON text. Empty in lists, and when the job has ended."""
    ending: CallEnding | None
    """None while it has not ended."""
    looked_at: datetime
    """The time of this look, by the store's clock."""

    @property
    def mark(self) -> TaskMark:
        """What `TaskStore.marks` returns of it."""
        return TaskMark(self.job.state, self.job.updated_at, self.progress, self.progress_text)


class TaskAnswers(Struct, frozen=True):
    """The questions and the answers of a task, as JSON text, once some are answered."""

    questions: bytes
    answers: bytes
    is_complete: bool
    """Whether no question is open."""
