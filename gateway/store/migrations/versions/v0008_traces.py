"""The traces that calls, jobs and events belong to."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0008"
down_revision = "0007"
oldest_reader = "0005"
"""It does not know the columns, which are null for what it writes."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns. This rewrites no rows."""
    op.add_column("audit_records", sa.Column("trace_id", sa.Text))
    op.add_column("jobs", sa.Column("trace", _WORD))
    op.add_column("events", sa.Column("trace", _WORD))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("events", "trace")
    op.drop_column("jobs", "trace")
    op.drop_column("audit_records", "trace_id")
