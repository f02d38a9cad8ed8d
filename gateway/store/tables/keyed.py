"""The table of calls with an idempotency key."""

from datetime import datetime
from typing import Final

from sqlalchemy import Column, Index, LargeBinary, Table, text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel

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
