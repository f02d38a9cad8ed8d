"""Jobs that wait for their next attempt have the state `retryable` instead of `failed`."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
# No `oldest_reader`: an older gateway would not find these jobs.

_NEW = "state IN ('pending', 'retryable')"
_OLD = "state IN ('pending', 'failed')"


def upgrade() -> None:
    """Rename the state, and make its indexes again."""
    _rename("failed", "retryable", _NEW)


def downgrade() -> None:
    """Rename the state back."""
    _rename("retryable", "failed", _OLD)


def _rename(old: str, new: str, ready: str) -> None:
    op.execute(f"UPDATE jobs SET state = '{new}' WHERE state = '{old}'")  # noqa: S608 - two fixed words
    _index("jobs_due", ["run_at", "id"], ready)
    _index("jobs_due_by_lane", ["kind", "lane", "run_at", "id"], ready)


def _index(name: str, columns: list[str], ready: str) -> None:
    op.drop_index(name, "jobs", if_exists=True)
    predicate = sa.text(ready)
    op.create_index(name, "jobs", columns, sqlite_where=predicate, postgresql_where=predicate)
