"""Why audited calls failed, in words."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
oldest_reader = "0014"
"""It does not know the column, which is null for what it writes."""


def upgrade() -> None:
    """Add the column. This rewrites no rows."""
    op.add_column("audit_records", sa.Column("detail", sa.Text))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("audit_records", "detail")
