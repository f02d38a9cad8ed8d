"""An index for the audit records of a job."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
oldest_reader = "0014"
"""Older gateways do not name the job in the record of its run. Beside them, a job that they have
begun would look as if it had not begun."""

_NAMED = sa.text("job_id IS NOT NULL")


def upgrade() -> None:
    """Create the index. Few records name a job."""
    op.create_index(
        "audit_by_job",
        "audit_records",
        ["job_id"],
        sqlite_where=_NAMED,
        postgresql_where=_NAMED,
    )


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("audit_by_job", "audit_records")
