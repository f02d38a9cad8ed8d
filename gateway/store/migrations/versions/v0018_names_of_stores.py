"""The names of stores."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
oldest_reader = "0014"
"""It does not know the table. Its counters in Redis have another prefix."""


def upgrade() -> None:
    """Create the table. The first gateway that needs a name makes it."""
    op.create_table(
        "store_names",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("store_names")
