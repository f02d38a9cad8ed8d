"""An index for the few events that announce a changed contract."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
oldest_reader = "0014"
"""Indexes change nothing that is read or written."""

_ANNOUNCED = sa.text("type = 'gateway.contract.changed.v1'")


def upgrade() -> None:
    """Create the index."""
    op.create_index(
        "events_announced",
        "events",
        ["position"],
        sqlite_where=_ANNOUNCED,
        postgresql_where=_ANNOUNCED,
    )


def downgrade() -> None:
    """Drop the index."""
    op.drop_index("events_announced", "events")
