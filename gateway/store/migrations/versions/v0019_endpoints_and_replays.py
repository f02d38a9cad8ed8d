"""Which events an endpoint wants by their data, with which header fields of its own, and an index
for replays by time."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
oldest_reader = "0014"
"""It does not know the columns. The first value that is stored in one makes this revision the
oldest reader."""


def upgrade() -> None:
    """Add the columns, which rewrites no rows, and the index."""
    op.add_column("endpoints", sa.Column("filter", sa.Text))
    op.add_column("endpoints", sa.Column("headers", sa.Text))
    op.create_index("events_by_time", "events", ["time"])


def downgrade() -> None:
    """Drop the index and the columns."""
    op.drop_index("events_by_time", "events")
    op.drop_column("endpoints", "headers")
    op.drop_column("endpoints", "filter")
