"""Indexes of the calls that have begun and not ended, to find those that were cut off."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
oldest_reader = "0005"
"""It only adds indexes."""


def upgrade() -> None:
    """Create the indexes."""
    _index("audit_pending", "audit_records", "id", "outcome = 'PENDING'")
    _index("keyed_calls_running", "keyed_calls", "lease_until", "outcome IS NULL")


def downgrade() -> None:
    """Drop them."""
    op.drop_index("keyed_calls_running", "keyed_calls", if_exists=True)
    op.drop_index("audit_pending", "audit_records", if_exists=True)


def _index(name: str, table: str, column: str, condition: str) -> None:
    predicate = sa.text(condition)
    op.create_index(name, table, [column], sqlite_where=predicate, postgresql_where=predicate)
