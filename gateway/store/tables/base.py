"""The base of all tables, and the tables of audit records and keys.

A change of a table needs a migration.
"""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
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
