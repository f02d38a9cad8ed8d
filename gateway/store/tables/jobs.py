"""The tables of jobs, of their attempts, and of the calls that jobs of the kind `call` make."""

from datetime import datetime
from typing import Final

from sqlalchemy import CheckConstraint, Column, Index, Integer, Table, Text, text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel

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
