"""What callers have used of their limits."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0009"
down_revision = "0008"
oldest_reader = "0005"
"""It does not know the table, and counts nothing, as it never did."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "limit_counters",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("entries", sa.Text, nullable=False),
        sa.Column("ends_at", sa.BigInteger, nullable=False),
    )
    op.create_index("limit_counters_by_end", "limit_counters", ["ends_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("limit_counters")
