"""Audit records and agent keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "audit_records",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("transport", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("subject", sa.Text),
        sa.Column("agent", sa.Text),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("stage", sa.Text),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("backend", sa.Text),
        sa.Column("duration_ms", sa.Float(53), nullable=False),
        sa.Column("arguments", sa.Text),
    )
    op.create_table(
        "agent_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_at", sa.BigInteger),
    )


def downgrade() -> None:
    """Drop both tables."""
    op.drop_table("agent_keys")
    op.drop_table("audit_records")
