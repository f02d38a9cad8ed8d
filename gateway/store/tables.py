"""The tables of the gateway's own database. A change of a table needs a migration."""

from datetime import UTC, datetime
from typing import Any, Final, cast

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TextClause,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = 1_000_000

METADATA: Final = MetaData()
"""The gateway's own tables. The tables of entities are in the generated package."""
# Not a `TypeDecorator`, for which SQLAlchemy makes a new cache key at each use: claims have many.
Word: Final = cast("type[Any]", Text().with_variant(TEXT(collation="C"), "postgresql"))
"""The type of ids and names: every database compares them by code points."""


def microseconds(moment: datetime) -> int:
    """The microseconds from 1970 to `moment`, which must be aware."""
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * _MICROSECOND + since.microseconds


class Moment(TypeDecorator[datetime]):
    """An aware `datetime`, stored as microseconds since 1970 in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - the signature of SQLAlchemy
        return None if value is None else microseconds(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the signature of SQLAlchemy
        if value is None:
            return None
        seconds, rest = divmod(value, _MICROSECOND)
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest)


class Double(Float[float]):
    """A float in eight bytes."""

    def __init__(self) -> None:
        super().__init__(53)


def _partial(name: str, *columns: str, where: TextClause, unique: bool = False) -> Index:
    """An index of some rows. `where` is literal text: with bound values, no planner uses it."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


class StoreModel(SQLModel):
    """The base class of the gateway's own tables."""

    metadata = METADATA


IS_PENDING: Final = text("outcome = 'PENDING'")
NAMES_JOB: Final = text("job_id IS NOT NULL")


class AuditRow(StoreModel, table=True):
    """An `AuditRecord`."""

    __tablename__ = "audit_records"
    __table_args__ = (
        _partial("audit_pending", "id", where=IS_PENDING),
        _partial("audit_by_job", "job_id", where=NAMES_JOB),
    )

    id: str = Field(max_length=36, primary_key=True)
    at: datetime = Field(sa_type=Moment)
    request_id: str = Field(sa_type=Text)
    transport: str = Field(sa_type=Text)
    operation: str = Field(sa_type=Text)
    subject: str | None = Field(default=None, sa_type=Text)
    agent: str | None = Field(default=None, sa_type=Text)
    outcome: str = Field(sa_type=Text)
    stage: str | None = Field(default=None, sa_type=Text)
    status: int
    backend: str | None = Field(default=None, sa_type=Text)
    duration_ms: float = Field(sa_type=Double)
    arguments: str | None = Field(default=None, sa_type=Text)
    """JSON text, which databases store unchanged (PostgreSQL's jsonb refuses NUL)."""
    hidden_characters: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    trace_id: str | None = Field(default=None, sa_type=Text)
    job_id: str | None = Field(default=None, sa_type=Text)
    detail: str | None = Field(default=None, sa_type=Text)


class KeyRow(StoreModel, table=True):
    """An `AgentKey`."""

    __tablename__ = "agent_keys"

    id: str = Field(sa_type=Text, primary_key=True)
    agent: str = Field(sa_type=Text)
    label: str = Field(sa_type=Text)
    digest: str = Field(max_length=64, unique=True)
    created_at: datetime = Field(sa_type=Moment)
    revoked_at: datetime | None = Field(default=None, sa_type=Moment)


class OldestReaderRow(StoreModel, table=True):
    """The oldest gateway that can use a set of tables; see `gateway.store.sql.engine`."""

    __tablename__ = "oldest_readers"

    tables: str = Field(sa_type=Text, primary_key=True)
    """`store`: the gateway's own tables."""
    revision: str = Field(sa_type=Text)
    """The newest revision that this gateway has."""


class StoreNameRow(StoreModel, table=True):
    """The name of the store, by which others tell it from the stores of other gateways."""

    __tablename__ = "store_names"

    kind: str = Field(sa_type=Text, primary_key=True)
    """`store`."""
    name: str = Field(sa_type=Text)


STORE_NAMES: Final[Table] = METADATA.tables["store_names"]
OLDEST_READERS: Final[Table] = METADATA.tables["oldest_readers"]
AUDIT_RECORDS: Final[Table] = METADATA.tables["audit_records"]
AGENT_KEYS: Final[Table] = METADATA.tables["agent_keys"]


CONFLICTING: Final = text("is_conflict")
"""The predicate of the index `webhooks_conflicting`. `ON CONFLICT` needs it to use that index."""
_WITH_BODY: Final = text("body IS NOT NULL")


class WebhookKeyRow(StoreModel, table=True):
    """The key that detects repetitions of a message. It is kept longer than the message's body."""

    __tablename__ = "webhook_keys"
    __table_args__ = (Index("webhook_keys_by_webhook", "webhook_id"),)

    provider: str = Field(sa_type=Word, primary_key=True)
    message_id: str = Field(sa_type=Word, primary_key=True)
    body_sha256: str = Field(sa_type=Word)
    webhook_id: str = Field(sa_type=Word)
    seen_at: datetime = Field(sa_type=Moment)


class WebhookRow(StoreModel, table=True):
    """A `StoredWebhook`."""

    __tablename__ = "webhooks"
    __table_args__ = (
        Index("webhooks_by_provider", "provider", "id"),
        _partial(
            "webhooks_conflicting",
            "provider",
            "message_id",
            "body_sha256",
            where=CONFLICTING,
            unique=True,
        ),
        Index("webhooks_by_age", "received_at"),
        _partial("webhooks_with_body", "id", where=_WITH_BODY),
    )

    id: str = Field(sa_type=Word, primary_key=True)
    provider: str = Field(sa_type=Word)
    profile: str = Field(sa_type=Word)
    message_id: str = Field(sa_type=Word)
    event_type: str = Field(sa_type=Word)
    body: bytes | None = None
    """The exact bytes that were received. None after retention has removed them."""
    body_sha256: str = Field(sa_type=Word)
    headers: str = Field(sa_type=Text)
    """JSON."""
    contract: str = Field(sa_type=Word)
    received_at: datetime = Field(sa_type=Moment)
    derived_from: str | None = Field(default=None, sa_type=Word)
    is_conflict: bool
    refusals: str = Field(sa_type=Text)
    """JSON."""
    job_id: str = Field(sa_type=Word)
    """The job of its newest attempt set."""


WEBHOOK_KEYS: Final[Table] = METADATA.tables["webhook_keys"]
WEBHOOKS: Final[Table] = METADATA.tables["webhooks"]


READY: Final = text("state IN ('pending', 'retryable')")
CLAIMED: Final = text("state = 'processing'")
HAS_ENDED: Final = text("state IN ('completed', 'dead_letter', 'cancelled')")


class JobRow(StoreModel, table=True):
    """A `Job`."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("(state = 'processing') = (lease_until IS NOT NULL)", name="jobs_leased"),
        _partial("jobs_due", "run_at", "id", where=READY),
        _partial("jobs_due_by_owner", "kind", "lane", "owner", "run_at", "id", where=READY),
        _partial("jobs_leased_until", "lease_until", where=CLAIMED),
        Index("jobs_by_state", "kind", "state", "id"),
        Index("jobs_by_subject", "subject", "id"),
        _partial("jobs_ended", "updated_at", where=HAS_ENDED),
        # Each claim writes a new version of the row. Free space keeps it on the same page.
        {"postgresql_with": {"fillfactor": 70}},
    )

    id: str = Field(sa_type=Word, primary_key=True)
    kind: str = Field(sa_type=Word)
    subject: str = Field(sa_type=Word)
    lane: str = Field(sa_type=Word)
    owner: str = Field(default="", sa_type=Word, sa_column_kwargs={"server_default": ""})
    """Whose call a task is. The owners in a lane take turns. Empty: it is nobody's."""
    state: str = Field(sa_type=Word)
    attempts: int
    max_attempts: int
    run_at: datetime = Field(sa_type=Moment)
    claimed_at: datetime | None = Field(default=None, sa_type=Moment)
    lease_until: datetime | None = Field(default=None, sa_type=Moment)
    claim_seq: int
    claimed_by: str | None = Field(default=None, sa_type=Word)
    error: str | None = Field(default=None, sa_type=Word)
    replay_of: str | None = Field(default=None, sa_type=Word)
    actor: str | None = Field(default=None, sa_type=Word)
    trace: str | None = Field(default=None, sa_type=Word)
    created_at: datetime = Field(sa_type=Moment)
    updated_at: datetime = Field(sa_type=Moment)


class JobAttemptRow(StoreModel, table=True):
    """An `Attempt`."""

    __tablename__ = "job_attempts"

    job_id: str = Field(sa_type=Word, primary_key=True)
    claim_seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    worker: str = Field(sa_type=Word)
    started_at: datetime = Field(sa_type=Moment)
    ended_at: datetime = Field(sa_type=Moment)
    outcome: str = Field(sa_type=Word)
    error: str | None = Field(default=None, sa_type=Word)
    detail: str | None = Field(default=None, sa_type=Text)


class CallRow(StoreModel, table=True):
    """A `NewCall`."""

    __tablename__ = "calls"
    __table_args__ = (Index("calls_by_age", "created_at"),)

    id: str = Field(sa_type=Word, primary_key=True)
    operation: str = Field(sa_type=Word)
    arguments: str = Field(sa_type=Text)
    """JSON."""
    lane: str = Field(sa_type=Word)
    created_at: datetime = Field(sa_type=Moment)


JOBS: Final[Table] = METADATA.tables["jobs"]
JOB_ATTEMPTS: Final[Table] = METADATA.tables["job_attempts"]
CALLS: Final[Table] = METADATA.tables["calls"]


OPEN: Final = text("outcome IS NULL")
KEPT: Final = text("emptied_at IS NULL")


class TaskRow(StoreModel, table=True):
    """A `StoredTask` without its job."""

    __tablename__ = "tasks"
    __table_args__ = (
        Index("tasks_by_owner", "subject", "job_id"),
        _partial("tasks_open", "subject", where=OPEN),
        _partial("tasks_kept", "job_id", where=KEPT),
    )

    job_id: str = Field(sa_type=Word, primary_key=True)
    subject: str = Field(sa_type=Word)
    agent: str = Field(sa_type=Word)
    operation: str = Field(sa_type=Word)
    arguments: bytes
    is_read: bool
    time_limit_seconds: float | None = Field(default=None, sa_type=Double)
    max_attempts: int | None = None
    key: str | None = Field(default=None, sa_type=Word)
    progress: float | None = Field(default=None, sa_type=Double)
    progress_text: str | None = Field(default=None, sa_type=Text)
    outcome: str | None = Field(default=None, sa_type=Word)
    body: bytes | None = None
    file: bytes | None = None
    media_type: str | None = Field(default=None, sa_type=Word)
    backend: str | None = Field(default=None, sa_type=Word)
    asks: str | None = Field(default=None, sa_type=Word)
    questions: bytes | None = None
    answers: bytes | None = None
    emptied_at: datetime | None = Field(default=None, sa_type=Moment)


TASKS: Final[Table] = METADATA.tables["tasks"]


RUNNING: Final = text("outcome IS NULL")
_NAMED: Final = text("job_id IS NOT NULL")


class KeyedCallRow(StoreModel, table=True):
    """A `KeyedCall`, with its `CallEnding` when it has ended."""

    __tablename__ = "keyed_calls"
    __table_args__ = (
        Index("keyed_calls_once", "subject", "key", unique=True),
        Index("keyed_calls_by_age", "began_at", "id"),
        _partial("keyed_calls_running", "lease_until", where=RUNNING),
        _partial("keyed_calls_by_job", "job_id", where=_NAMED),
    )

    id: str = Field(sa_type=Word, primary_key=True)
    subject: str = Field(sa_type=Word)
    key: str = Field(sa_type=Word)
    operation: str = Field(sa_type=Word)
    fingerprint: str = Field(sa_type=Word)
    began_at: datetime = Field(sa_type=Moment)
    lease_until: datetime = Field(sa_type=Moment)
    outcome: str | None = Field(default=None, sa_type=Word)
    body: bytes | None = None
    file: bytes | None = None
    media_type: str | None = Field(default=None, sa_type=Word)
    backend: str | None = Field(default=None, sa_type=Word)
    job_id: str | None = Field(default=None, sa_type=Word)


KEYED_CALLS: Final[Table] = METADATA.tables["keyed_calls"]


UNPLACED: Final = text("position IS NULL")
ANNOUNCED: Final = text("type = 'gateway.contract.changed.v1'")
"""`CONTRACT_CHANGED`."""
_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")


class EventRow(StoreModel, table=True):
    """A `StoredEvent`, or a `NewEvent` that has no position yet."""

    __tablename__ = "events"
    __table_args__ = (
        _partial("events_unplaced", "seq", where=UNPLACED),
        # Without the position: SQLite would scan the index for the newest event.
        Index("events_by_time", "time"),
        _partial("events_announced", "position", where=ANNOUNCED),
        {"sqlite_autoincrement": True},
    )

    seq: int = Field(sa_column=Column(_NUMBER, primary_key=True, autoincrement=True))
    """The order of insertion, which differs from the order of commits. So only `position` may be a
    cursor."""
    id: str = Field(sa_type=Word, unique=True)
    position: int | None = Field(default=None, sa_type=BigInteger, unique=True)
    type: str = Field(sa_type=Word)
    subject: str = Field(sa_type=Text)
    source: str = Field(sa_type=Word)
    time: datetime = Field(sa_type=Moment)
    data: str = Field(sa_type=Text)
    """JSON."""
    webhook_id: str | None = Field(default=None, sa_type=Word)
    trace: str | None = Field(default=None, sa_type=Word)


class EndpointRow(StoreModel, table=True):
    """An `Endpoint`."""

    __tablename__ = "endpoints"

    id: str = Field(sa_type=Word, primary_key=True)
    url: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text)
    event_types: str = Field(sa_type=Text)
    """JSON."""
    secret: bytes
    previous_secret: bytes | None = None
    previous_until: datetime | None = Field(default=None, sa_type=Moment)
    state: str = Field(sa_type=Word)
    disabled_because: str | None = Field(default=None, sa_type=Text)
    failing_since: datetime | None = Field(default=None, sa_type=Moment)
    created_at: datetime = Field(sa_type=Moment)
    updated_at: datetime = Field(sa_type=Moment)
    filter: str | None = Field(default=None, sa_type=Text)
    """JSON."""
    headers: str | None = Field(default=None, sa_type=Text)
    """JSON; the values are encrypted, in base64."""


class DeliveryRow(StoreModel, table=True):
    """A `Delivery`."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index("deliveries_once", "event_id", "endpoint_id", unique=True),
        Index("deliveries_by_endpoint", "endpoint_id", "id"),
        Index("deliveries_by_job", "job_id"),
    )

    id: str = Field(sa_type=Word, primary_key=True)
    endpoint_id: str = Field(sa_type=Word)
    event_id: str = Field(sa_type=Word)
    job_id: str = Field(sa_type=Word)
    """The job of its newest attempt set."""
    created_at: datetime = Field(sa_type=Moment)


EVENTS: Final[Table] = METADATA.tables["events"]
ENDPOINTS: Final[Table] = METADATA.tables["endpoints"]
DELIVERIES: Final[Table] = METADATA.tables["deliveries"]


class SubscriptionRow(StoreModel, table=True):
    """A `SubscribedSession` with the URIs that it has subscribed to."""

    __tablename__ = "mcp_subscriptions"
    __table_args__ = (
        Index("mcp_subscriptions_by_subject", "subject", "seen_at"),
        Index("mcp_subscriptions_by_age", "seen_at"),
    )

    session: str = Field(sa_type=Word, primary_key=True)
    subject: str = Field(sa_type=Word, primary_key=True)
    connector: str = Field(sa_type=Word, primary_key=True)
    uris: str = Field(sa_type=Text)
    """JSON text."""
    seen_at: datetime = Field(sa_type=Moment)


MCP_SUBSCRIPTIONS: Final[Table] = METADATA.tables["mcp_subscriptions"]


class LimitCounterRow(StoreModel, table=True):
    """A counter; see `gateway.store.usage`."""

    __tablename__ = "limit_counters"
    __table_args__ = (Index("limit_counters_by_end", "ends_at"),)

    id: str = Field(sa_type=Word, primary_key=True)
    entries: str = Field(sa_type=Text)
    """JSON."""
    ends_at: datetime = Field(sa_type=Moment)
    """When its last entry ends."""


LIMIT_COUNTERS: Final[Table] = METADATA.tables["limit_counters"]
