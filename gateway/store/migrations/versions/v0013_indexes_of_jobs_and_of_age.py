"""Indexes for what belongs to a job, and for what is old enough to be removed."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
oldest_reader = "0010"
"""Indexes change nothing that is read or written."""

_ENDED = sa.text("state IN ('completed', 'dead_letter', 'cancelled')")
_NAMED = sa.text("job_id IS NOT NULL")


def upgrade() -> None:
    """Create the indexes."""
    op.create_index("deliveries_by_job", "deliveries", ["job_id"])
    op.create_index("calls_by_age", "calls", ["created_at"])
    op.create_index("webhooks_by_age", "webhooks", ["received_at"])
    for name, table, columns, predicate in (
        ("keyed_calls_by_job", "keyed_calls", ["job_id"], _NAMED),
        ("jobs_ended", "jobs", ["updated_at"], _ENDED),
    ):
        op.create_index(name, table, columns, sqlite_where=predicate, postgresql_where=predicate)


def downgrade() -> None:
    """Drop the indexes."""
    for name, table in (
        ("deliveries_by_job", "deliveries"),
        ("calls_by_age", "calls"),
        ("webhooks_by_age", "webhooks"),
        ("keyed_calls_by_job", "keyed_calls"),
        ("jobs_ended", "jobs"),
    ):
        op.drop_index(name, table)
