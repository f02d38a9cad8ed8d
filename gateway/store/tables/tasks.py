"""The table of tasks: the calls of callers that run as jobs."""

from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, Table, Text, text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel

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
