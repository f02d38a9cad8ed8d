"""Subscriptions of MCP clients."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0012"
down_revision = "0011"
oldest_reader = "0010"
"""It does not know the table, and refuses to subscribe, as it always did."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "mcp_subscriptions",
        sa.Column("session", _WORD, primary_key=True),
        sa.Column("subject", _WORD, primary_key=True),
        sa.Column("connector", _WORD, primary_key=True),
        sa.Column("uris", sa.Text, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
    )
    op.create_index("mcp_subscriptions_by_subject", "mcp_subscriptions", ["subject", "seen_at"])
    op.create_index("mcp_subscriptions_by_age", "mcp_subscriptions", ["seen_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("mcp_subscriptions")
