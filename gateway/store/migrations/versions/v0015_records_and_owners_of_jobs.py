"""An index for the audit records of a job, and the owners of jobs, who take turns."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0015"
down_revision = "0014"
oldest_reader = "0014"
"""Older gateways do not name the job in the record of its run. Beside them, a job that they have
begun would look as if it had not begun."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
_NAMED = sa.text("job_id IS NOT NULL")
_READY = sa.text("state IN ('pending', 'retryable')")


def upgrade() -> None:
    """Create the index, of the few records that name a job, and the column.

    What waits already has no owner: it takes turns as one owner's work does.
    """
    op.create_index(
        "audit_by_job",
        "audit_records",
        ["job_id"],
        sqlite_where=_NAMED,
        postgresql_where=_NAMED,
    )
    op.add_column("jobs", sa.Column("owner", _WORD, nullable=False, server_default=""))
    _replace("jobs_due_by_lane", "jobs_due_by_owner", ["kind", "lane", "owner", "run_at", "id"])


def downgrade() -> None:
    """Drop both."""
    op.drop_index("audit_by_job", "audit_records")
    _replace("jobs_due_by_owner", "jobs_due_by_lane", ["kind", "lane", "run_at", "id"])
    op.drop_column("jobs", "owner")


def _replace(old: str, new: str, columns: list[str]) -> None:
    op.create_index(new, "jobs", columns, sqlite_where=_READY, postgresql_where=_READY)
    op.drop_index(old, "jobs", if_exists=True)
