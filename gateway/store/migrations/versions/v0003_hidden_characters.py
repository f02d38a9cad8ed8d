"""The number of hidden characters that were removed from a result."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column. This rewrites no rows."""
    column = sa.Column("hidden_characters", sa.Integer, nullable=False, server_default="0")
    op.add_column("audit_records", column)


def downgrade() -> None:
    """Drop the column."""
    op.drop_column("audit_records", "hidden_characters")
