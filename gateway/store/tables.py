"""The tables of the gateway's own database. A change of a table needs a migration."""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.types import TypeDecorator, TypeEngine
from sqlmodel import Field, SQLModel

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = 1_000_000

METADATA: Final = MetaData()
"""The gateway's own tables. The tables of entities are in the generated package."""
WORD: Final[TypeEngine[str]] = Text().with_variant(TEXT(collation="C"), "postgresql")
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


class StoreModel(SQLModel):
    """The base class of the gateway's own tables."""

    metadata = METADATA


IS_PENDING: Final = text("outcome = 'PENDING'")
"""Written as it is in the index, so that PostgreSQL uses the index."""
NAMES_JOB: Final = text("job_id IS NOT NULL")


class AuditRow(StoreModel, table=True):
    """An `AuditRecord`."""

    __tablename__ = "audit_records"
    __table_args__ = (
        Index("audit_pending", "id", sqlite_where=IS_PENDING, postgresql_where=IS_PENDING),
        Index("audit_by_job", "job_id", sqlite_where=NAMES_JOB, postgresql_where=NAMES_JOB),
    )

    id: str = Field(sa_column=Column(String(36), primary_key=True))
    at: datetime = Field(sa_column=Column(Moment, nullable=False))
    request_id: str = Field(sa_column=Column(Text, nullable=False))
    transport: str = Field(sa_column=Column(Text, nullable=False))
    operation: str = Field(sa_column=Column(Text, nullable=False))
    subject: str | None = Field(default=None, sa_column=Column(Text))
    agent: str | None = Field(default=None, sa_column=Column(Text))
    outcome: str = Field(sa_column=Column(Text, nullable=False))
    stage: str | None = Field(default=None, sa_column=Column(Text))
    status: int = Field(sa_column=Column(Integer, nullable=False))
    backend: str | None = Field(default=None, sa_column=Column(Text))
    duration_ms: float = Field(sa_column=Column(Float(53), nullable=False))
    arguments: str | None = Field(default=None, sa_column=Column(Text))
    """JSON text, which databases store unchanged (PostgreSQL's jsonb refuses NUL)."""
    hidden_characters: int = Field(
        default=0, sa_column=Column(Integer, nullable=False, server_default="0")
    )
    trace_id: str | None = Field(default=None, sa_column=Column(Text))
    job_id: str | None = Field(default=None, sa_column=Column(Text))
    detail: str | None = Field(default=None, sa_column=Column(Text))


class KeyRow(StoreModel, table=True):
    """An `AgentKey`."""

    __tablename__ = "agent_keys"

    id: str = Field(sa_column=Column(Text, primary_key=True))
    agent: str = Field(sa_column=Column(Text, nullable=False))
    label: str = Field(sa_column=Column(Text, nullable=False))
    digest: str = Field(sa_column=Column(String(64), nullable=False, unique=True))
    created_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    revoked_at: datetime | None = Field(default=None, sa_column=Column(Moment))


class OldestReaderRow(StoreModel, table=True):
    """The oldest gateway that can use a set of tables; see `gateway.store.sql.versions`."""

    __tablename__ = "oldest_readers"

    tables: str = Field(sa_column=Column(Text, primary_key=True))
    """`store`: the gateway's own tables."""
    revision: str = Field(sa_column=Column(Text, nullable=False))
    """The newest revision that this gateway has."""


class StoreNameRow(StoreModel, table=True):
    """The name of the store, by which others tell it from the stores of other gateways."""

    __tablename__ = "store_names"

    kind: str = Field(sa_column=Column(Text, primary_key=True))
    """`store`."""
    name: str = Field(sa_column=Column(Text, nullable=False))


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

    provider: str = Field(sa_column=Column(WORD, primary_key=True))
    message_id: str = Field(sa_column=Column(WORD, primary_key=True))
    body_sha256: str = Field(sa_column=Column(WORD, nullable=False))
    webhook_id: str = Field(sa_column=Column(WORD, nullable=False))
    seen_at: datetime = Field(sa_column=Column(Moment, nullable=False))


class WebhookRow(StoreModel, table=True):
    """A `StoredWebhook`."""

    __tablename__ = "webhooks"
    __table_args__ = (
        Index("webhooks_by_provider", "provider", "id"),
        Index(
            "webhooks_conflicting",
            "provider",
            "message_id",
            "body_sha256",
            unique=True,
            sqlite_where=CONFLICTING,
            postgresql_where=CONFLICTING,
        ),
        Index("webhooks_by_age", "received_at"),
        Index("webhooks_with_body", "id", sqlite_where=_WITH_BODY, postgresql_where=_WITH_BODY),
    )

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    provider: str = Field(sa_column=Column(WORD, nullable=False))
    profile: str = Field(sa_column=Column(WORD, nullable=False))
    message_id: str = Field(sa_column=Column(WORD, nullable=False))
    event_type: str = Field(sa_column=Column(WORD, nullable=False))
    body: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    """The exact bytes that were received. None after retention has removed them."""
    body_sha256: str = Field(sa_column=Column(WORD, nullable=False))
    headers: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    contract: str = Field(sa_column=Column(WORD, nullable=False))
    received_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    derived_from: str | None = Field(default=None, sa_column=Column(WORD))
    is_conflict: bool = Field(sa_column=Column(Boolean, nullable=False))
    refusals: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    job_id: str = Field(sa_column=Column(WORD, nullable=False))
    """The job of its newest attempt set."""


WEBHOOK_KEYS: Final[Table] = METADATA.tables["webhook_keys"]
WEBHOOKS: Final[Table] = METADATA.tables["webhooks"]


READY: Final = text("state IN ('pending', 'retryable')")
"""The predicate of the indexes, as literal text. With bound values, no planner uses the indexes."""
CLAIMED: Final = text("state = 'processing'")
HAS_ENDED: Final = text("state IN ('completed', 'dead_letter', 'cancelled')")


class JobRow(StoreModel, table=True):
    """A `Job`."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint("(state = 'processing') = (lease_until IS NOT NULL)", name="jobs_leased"),
        Index("jobs_due", "run_at", "id", sqlite_where=READY, postgresql_where=READY),
        Index(
            "jobs_due_by_owner",
            "kind",
            "lane",
            "owner",
            "run_at",
            "id",
            sqlite_where=READY,
            postgresql_where=READY,
        ),
        Index("jobs_leased_until", "lease_until", sqlite_where=CLAIMED, postgresql_where=CLAIMED),
        Index("jobs_by_state", "kind", "state", "id"),
        Index("jobs_by_subject", "subject", "id"),
        Index("jobs_ended", "updated_at", sqlite_where=HAS_ENDED, postgresql_where=HAS_ENDED),
        # Each claim writes a new version of the row. Free space keeps it on the same page.
        {"postgresql_with": {"fillfactor": 70}},
    )

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    kind: str = Field(sa_column=Column(WORD, nullable=False))
    subject: str = Field(sa_column=Column(WORD, nullable=False))
    lane: str = Field(sa_column=Column(WORD, nullable=False))
    owner: str = Field(default="", sa_column=Column(WORD, nullable=False, server_default=""))
    """Whose call a task is. The owners in a lane take turns. Empty: it is nobody's."""
    state: str = Field(sa_column=Column(WORD, nullable=False))
    attempts: int = Field(sa_column=Column(Integer, nullable=False))
    max_attempts: int = Field(sa_column=Column(Integer, nullable=False))
    run_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    claimed_at: datetime | None = Field(default=None, sa_column=Column(Moment))
    lease_until: datetime | None = Field(default=None, sa_column=Column(Moment))
    claim_seq: int = Field(sa_column=Column(Integer, nullable=False))
    claimed_by: str | None = Field(default=None, sa_column=Column(WORD))
    error: str | None = Field(default=None, sa_column=Column(WORD))
    replay_of: str | None = Field(default=None, sa_column=Column(WORD))
    actor: str | None = Field(default=None, sa_column=Column(WORD))
    trace: str | None = Field(default=None, sa_column=Column(WORD))
    created_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    updated_at: datetime = Field(sa_column=Column(Moment, nullable=False))


class JobAttemptRow(StoreModel, table=True):
    """An `Attempt`."""

    __tablename__ = "job_attempts"

    job_id: str = Field(sa_column=Column(WORD, primary_key=True))
    claim_seq: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    worker: str = Field(sa_column=Column(WORD, nullable=False))
    started_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    ended_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    outcome: str = Field(sa_column=Column(WORD, nullable=False))
    error: str | None = Field(default=None, sa_column=Column(WORD))
    detail: str | None = Field(default=None, sa_column=Column(Text))


class CallRow(StoreModel, table=True):
    """A `NewCall`."""

    __tablename__ = "calls"
    __table_args__ = (Index("calls_by_age", "created_at"),)

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    operation: str = Field(sa_column=Column(WORD, nullable=False))
    arguments: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    lane: str = Field(sa_column=Column(WORD, nullable=False))
    created_at: datetime = Field(sa_column=Column(Moment, nullable=False))


JOBS: Final[Table] = METADATA.tables["jobs"]
JOB_ATTEMPTS: Final[Table] = METADATA.tables["job_attempts"]
CALLS: Final[Table] = METADATA.tables["calls"]


OPEN: Final = text("outcome IS NULL")
"""The predicate of an index, as literal text: see `gateway.store.tables.jobs`."""
KEPT: Final = text("emptied_at IS NULL")


class TaskRow(StoreModel, table=True):
    """A `StoredTask` without its job."""

    __tablename__ = "tasks"
    __table_args__ = (
        Index("tasks_by_owner", "subject", "job_id"),
        Index("tasks_open", "subject", sqlite_where=OPEN, postgresql_where=OPEN),
        Index("tasks_kept", "job_id", sqlite_where=KEPT, postgresql_where=KEPT),
    )

    job_id: str = Field(sa_column=Column(WORD, primary_key=True))
    subject: str = Field(sa_column=Column(WORD, nullable=False))
    agent: str = Field(sa_column=Column(WORD, nullable=False))
    operation: str = Field(sa_column=Column(WORD, nullable=False))
    arguments: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    is_read: bool = Field(sa_column=Column(Boolean, nullable=False))
    time_limit_seconds: float | None = Field(default=None, sa_column=Column(Float(53)))
    max_attempts: int | None = Field(default=None, sa_column=Column(Integer))
    key: str | None = Field(default=None, sa_column=Column(WORD))
    progress: float | None = Field(default=None, sa_column=Column(Float(53)))
    progress_text: str | None = Field(default=None, sa_column=Column(Text))
    outcome: str | None = Field(default=None, sa_column=Column(WORD))
    body: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    file: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    media_type: str | None = Field(default=None, sa_column=Column(WORD))
    backend: str | None = Field(default=None, sa_column=Column(WORD))
    asks: str | None = Field(default=None, sa_column=Column(WORD))
    questions: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    answers: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    emptied_at: datetime | None = Field(default=None, sa_column=Column(Moment))


TASKS: Final[Table] = METADATA.tables["tasks"]


RUNNING: Final = text("outcome IS NULL")
_NAMED: Final = text("job_id IS NOT NULL")


class KeyedCallRow(StoreModel, table=True):
    """A `KeyedCall`, with its `CallEnding` when it has ended."""

    __tablename__ = "keyed_calls"
    __table_args__ = (
        Index("keyed_calls_once", "subject", "key", unique=True),
        Index("keyed_calls_by_age", "began_at", "id"),
        Index("keyed_calls_running", "lease_until", sqlite_where=RUNNING, postgresql_where=RUNNING),
        Index("keyed_calls_by_job", "job_id", sqlite_where=_NAMED, postgresql_where=_NAMED),
    )

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    subject: str = Field(sa_column=Column(WORD, nullable=False))
    key: str = Field(sa_column=Column(WORD, nullable=False))
    operation: str = Field(sa_column=Column(WORD, nullable=False))
    fingerprint: str = Field(sa_column=Column(WORD, nullable=False))
    began_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    lease_until: datetime = Field(sa_column=Column(Moment, nullable=False))
    outcome: str | None = Field(default=None, sa_column=Column(WORD))
    body: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    file: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    media_type: str | None = Field(default=None, sa_column=Column(WORD))
    backend: str | None = Field(default=None, sa_column=Column(WORD))
    job_id: str | None = Field(default=None, sa_column=Column(WORD))


KEYED_CALLS: Final[Table] = METADATA.tables["keyed_calls"]


UNPLACED: Final = text("position IS NULL")
ANNOUNCED: Final = text("type = 'gateway.contract.changed.v1'")
"""`CONTRACT_CHANGED`, as literal text: see `gateway.store.tables.jobs`."""
_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")


class EventRow(StoreModel, table=True):
    """A `StoredEvent`, or a `NewEvent` that has no position yet."""

    __tablename__ = "events"
    __table_args__ = (
        Index("events_unplaced", "seq", sqlite_where=UNPLACED, postgresql_where=UNPLACED),
        # Without the position: SQLite would scan the index for the newest event.
        Index("events_by_time", "time"),
        Index("events_announced", "position", sqlite_where=ANNOUNCED, postgresql_where=ANNOUNCED),
        {"sqlite_autoincrement": True},
    )

    seq: int = Field(sa_column=Column(_NUMBER, primary_key=True, autoincrement=True))
    """The order of insertion, which differs from the order of commits. So only `position` may be a
    cursor."""
    id: str = Field(sa_column=Column(WORD, nullable=False, unique=True))
    position: int | None = Field(default=None, sa_column=Column(BigInteger, unique=True))
    type: str = Field(sa_column=Column(WORD, nullable=False))
    subject: str = Field(sa_column=Column(Text, nullable=False))
    source: str = Field(sa_column=Column(WORD, nullable=False))
    time: datetime = Field(sa_column=Column(Moment, nullable=False))
    data: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    webhook_id: str | None = Field(default=None, sa_column=Column(WORD))
    trace: str | None = Field(default=None, sa_column=Column(WORD))


class EndpointRow(StoreModel, table=True):
    """An `Endpoint`."""

    __tablename__ = "endpoints"

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    url: str = Field(sa_column=Column(Text, nullable=False))
    description: str = Field(sa_column=Column(Text, nullable=False))
    event_types: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    secret: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    previous_secret: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    previous_until: datetime | None = Field(default=None, sa_column=Column(Moment))
    state: str = Field(sa_column=Column(WORD, nullable=False))
    disabled_because: str | None = Field(default=None, sa_column=Column(Text))
    failing_since: datetime | None = Field(default=None, sa_column=Column(Moment))
    created_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    updated_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    filter: str | None = Field(default=None, sa_column=Column(Text))
    """JSON."""
    headers: str | None = Field(default=None, sa_column=Column(Text))
    """JSON; the values are encrypted, in base64."""


class DeliveryRow(StoreModel, table=True):
    """A `Delivery`."""

    __tablename__ = "deliveries"
    __table_args__ = (
        Index("deliveries_once", "event_id", "endpoint_id", unique=True),
        Index("deliveries_by_endpoint", "endpoint_id", "id"),
        Index("deliveries_by_job", "job_id"),
    )

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    endpoint_id: str = Field(sa_column=Column(WORD, nullable=False))
    event_id: str = Field(sa_column=Column(WORD, nullable=False))
    job_id: str = Field(sa_column=Column(WORD, nullable=False))
    """The job of its newest attempt set."""
    created_at: datetime = Field(sa_column=Column(Moment, nullable=False))


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

    session: str = Field(sa_column=Column(WORD, primary_key=True))
    subject: str = Field(sa_column=Column(WORD, primary_key=True))
    connector: str = Field(sa_column=Column(WORD, primary_key=True))
    uris: str = Field(sa_column=Column(Text, nullable=False))
    """JSON text."""
    seen_at: datetime = Field(sa_column=Column(Moment, nullable=False))


MCP_SUBSCRIPTIONS: Final[Table] = METADATA.tables["mcp_subscriptions"]


class LimitCounterRow(StoreModel, table=True):
    """A counter; see `gateway.store.usage`."""

    __tablename__ = "limit_counters"
    __table_args__ = (Index("limit_counters_by_end", "ends_at"),)

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    entries: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    ends_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    """When its last entry ends."""


LIMIT_COUNTERS: Final[Table] = METADATA.tables["limit_counters"]
