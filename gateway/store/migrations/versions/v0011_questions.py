"""Calls that wait for answers of their clients."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0011"
down_revision = "0010"
oldest_reader = "0010"
"""It does not know the columns, which are null for what it writes. It leaves jobs that wait."""

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns. This rewrites no rows."""
    op.add_column("tasks", sa.Column("asks", _WORD))
    op.add_column("tasks", sa.Column("questions", sa.LargeBinary))
    op.add_column("tasks", sa.Column("answers", sa.LargeBinary))


def downgrade() -> None:
    """Drop the columns."""
    op.drop_column("tasks", "answers")
    op.drop_column("tasks", "questions")
    op.drop_column("tasks", "asks")
