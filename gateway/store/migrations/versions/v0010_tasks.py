"""Calls of callers that run as jobs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0010"
down_revision = "0009"
# No `oldest_reader`: an older gateway would make a call with a key again that has become a job.

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table, and let a key name the job that its call became."""
    op.create_table(
        "tasks",
        sa.Column("job_id", _WORD, primary_key=True),
        sa.Column("subject", _WORD, nullable=False),
        sa.Column("agent", _WORD, nullable=False),
        sa.Column("operation", _WORD, nullable=False),
        sa.Column("arguments", sa.LargeBinary, nullable=False),
        sa.Column("is_read", sa.Boolean, nullable=False),
        sa.Column("time_limit_seconds", sa.Float(53)),
        sa.Column("max_attempts", sa.Integer),
        sa.Column("key", _WORD),
        sa.Column("progress", sa.Float(53)),
        sa.Column("progress_text", sa.Text),
        sa.Column("outcome", _WORD),
        sa.Column("body", sa.LargeBinary),
        sa.Column("file", sa.LargeBinary),
        sa.Column("media_type", _WORD),
        sa.Column("backend", _WORD),
        sa.Column("emptied_at", sa.BigInteger),
    )
    op.create_index("tasks_by_owner", "tasks", ["subject", "job_id"])
    _partial("tasks_open", "subject", "outcome IS NULL")
    _partial("tasks_kept", "job_id", "emptied_at IS NULL")
    op.add_column("keyed_calls", sa.Column("job_id", _WORD))


def downgrade() -> None:
    """Drop the table and the column."""
    op.drop_column("keyed_calls", "job_id")
    op.drop_table("tasks")


def _partial(name: str, column: str, condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "tasks", [column], sqlite_where=where, postgresql_where=where)
