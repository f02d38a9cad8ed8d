"""Which events an endpoint wants by their data."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
oldest_reader = "0014"
"""It does not know the column. The first filter that is stored makes this revision the oldest."""


def upgrade() -> None:
    """Add the column. This rewrites no rows."""
    op.add_column("endpoints", sa.Column("filter", sa.Text))


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("endpoints", "filter")
