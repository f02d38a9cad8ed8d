"""The oldest gateway that can use a set of tables."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
oldest_reader: Final = "0002"
"""The newest revision of the oldest gateway that can use these tables; see
`gateway.store.sql.engine`."""


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "oldest_readers",
        sa.Column("tables", sa.Text, primary_key=True),
        sa.Column("revision", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("oldest_readers")
