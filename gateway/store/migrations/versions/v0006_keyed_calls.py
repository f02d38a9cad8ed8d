"""Calls with an idempotency key."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0006"
down_revision = "0005"
oldest_reader = "0005"
"""It does not know the table, and refuses no key that it cannot honour, as it never did."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "keyed_calls",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("subject", _WORD, nullable=False),
        sa.Column("key", _WORD, nullable=False),
        sa.Column("operation", _WORD, nullable=False),
        sa.Column("fingerprint", _WORD, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
        sa.Column("lease_until", sa.BigInteger, nullable=False),
        sa.Column("outcome", _WORD),
        sa.Column("body", sa.LargeBinary),
        sa.Column("file", sa.LargeBinary),
        sa.Column("media_type", _WORD),
        sa.Column("backend", _WORD),
    )
    op.create_index("keyed_calls_once", "keyed_calls", ["subject", "key"], unique=True)
    op.create_index("keyed_calls_by_age", "keyed_calls", ["began_at", "id"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("keyed_calls")
