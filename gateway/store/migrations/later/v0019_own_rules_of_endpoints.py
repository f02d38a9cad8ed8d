"""Which events an endpoint wants by their data, and with which header fields of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
oldest_reader = "0014"
"""It does not know the columns. The first value that is stored in one makes this revision the
oldest reader."""


def upgrade() -> None:
    """Add the columns. This rewrites no rows."""
    op.add_column("endpoints", sa.Column("filter", sa.Text))
    op.add_column("endpoints", sa.Column("headers", sa.Text))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("endpoints", "headers")
    op.drop_column("endpoints", "filter")
