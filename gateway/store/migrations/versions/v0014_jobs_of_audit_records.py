"""The jobs that audited calls became."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
oldest_reader = "0010"
"""It does not know the column, which is null for what it writes."""


def upgrade() -> None:
    """Add the column. This rewrites no rows."""
    op.add_column("audit_records", sa.Column("job_id", sa.Text))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("audit_records", "job_id")
