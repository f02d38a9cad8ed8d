"""The tables of events, endpoints and deliveries."""

from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, Table, Text, text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel

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
