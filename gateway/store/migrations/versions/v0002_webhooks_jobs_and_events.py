"""Webhooks, jobs, events, endpoints and deliveries."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TEXT

revision = "0002"
down_revision = "0001"

_WORD = sa.Text().with_variant(TEXT(collation="C"), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the tables and their indexes."""
    _create_keys()
    _create_webhooks()
    _create_jobs()
    _create_attempts_and_calls()
    _create_events()
    _create_endpoints()


def downgrade() -> None:
    """Drop the tables."""
    for table in ("deliveries", "endpoints", "events", "calls", "job_attempts", "jobs"):
        op.drop_table(table)
    op.drop_table("webhooks")
    op.drop_table("webhook_keys")


def _create_keys() -> None:
    op.create_table(
        "webhook_keys",
        sa.Column("provider", _WORD, primary_key=True),
        sa.Column("message_id", _WORD, primary_key=True),
        sa.Column("body_sha256", _WORD, nullable=False),
        sa.Column("webhook_id", _WORD, nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
    )
    op.create_index("webhook_keys_by_webhook", "webhook_keys", ["webhook_id"])


def _create_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("provider", _WORD, nullable=False),
        sa.Column("profile", _WORD, nullable=False),
        sa.Column("message_id", _WORD, nullable=False),
        sa.Column("event_type", _WORD, nullable=False),
        sa.Column("body", sa.LargeBinary),
        sa.Column("body_sha256", _WORD, nullable=False),
        sa.Column("headers", sa.Text, nullable=False),
        sa.Column("contract", _WORD, nullable=False),
        sa.Column("received_at", sa.BigInteger, nullable=False),
        sa.Column("derived_from", _WORD),
        sa.Column("is_conflict", sa.Boolean, nullable=False),
        sa.Column("refusals", sa.Text, nullable=False),
        sa.Column("job_id", _WORD, nullable=False),
    )
    op.create_index("webhooks_by_provider", "webhooks", ["provider", "id"])
    _create_partial_index(
        "webhooks_conflicting",
        "webhooks",
        ["provider", "message_id", "body_sha256"],
        "is_conflict",
        is_unique=True,
    )
    _create_partial_index("webhooks_with_body", "webhooks", ["id"], "body IS NOT NULL")


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("kind", _WORD, nullable=False),
        sa.Column("subject", _WORD, nullable=False),
        sa.Column("lane", _WORD, nullable=False),
        sa.Column("state", _WORD, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("run_at", sa.BigInteger, nullable=False),
        sa.Column("claimed_at", sa.BigInteger),
        sa.Column("lease_until", sa.BigInteger),
        sa.Column("claim_seq", sa.Integer, nullable=False),
        sa.Column("claimed_by", _WORD),
        sa.Column("error", _WORD),
        sa.Column("replay_of", _WORD),
        sa.Column("actor", _WORD),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.CheckConstraint(
            "(state = 'processing') = (lease_until IS NOT NULL)", name="jobs_leased"
        ),
        postgresql_with={"fillfactor": 70},
    )
    ready = "state IN ('pending', 'failed')"
    _create_partial_index("jobs_due", "jobs", ["run_at", "id"], ready)
    _create_partial_index("jobs_due_by_lane", "jobs", ["kind", "lane", "run_at", "id"], ready)
    _create_partial_index("jobs_leased_until", "jobs", ["lease_until"], "state = 'processing'")
    op.create_index("jobs_by_state", "jobs", ["kind", "state", "id"])
    op.create_index("jobs_by_subject", "jobs", ["subject", "id"])


def _create_attempts_and_calls() -> None:
    op.create_table(
        "job_attempts",
        sa.Column("job_id", _WORD, primary_key=True),
        sa.Column("claim_seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("worker", _WORD, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger, nullable=False),
        sa.Column("outcome", _WORD, nullable=False),
        sa.Column("error", _WORD),
        sa.Column("detail", sa.Text),
    )
    op.create_table(
        "calls",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("operation", _WORD, nullable=False),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("lane", _WORD, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("seq", _NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", _WORD, nullable=False, unique=True),
        sa.Column("position", sa.BigInteger, unique=True),
        sa.Column("type", _WORD, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("source", _WORD, nullable=False),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("webhook_id", _WORD),
        sqlite_autoincrement=True,
    )
    _create_partial_index("events_unplaced", "events", ["seq"], "position IS NULL")


def _create_endpoints() -> None:
    op.create_table(
        "endpoints",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("event_types", sa.Text, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("previous_secret", sa.LargeBinary),
        sa.Column("previous_until", sa.BigInteger),
        sa.Column("state", _WORD, nullable=False),
        sa.Column("disabled_because", sa.Text),
        sa.Column("failing_since", sa.BigInteger),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", _WORD, primary_key=True),
        sa.Column("endpoint_id", _WORD, nullable=False),
        sa.Column("event_id", _WORD, nullable=False),
        sa.Column("job_id", _WORD, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("deliveries_once", "deliveries", ["event_id", "endpoint_id"], unique=True)
    op.create_index("deliveries_by_endpoint", "deliveries", ["endpoint_id", "id"])


def _create_partial_index(
    name: str, table: str, columns: list[str], where: str, *, is_unique: bool = False
) -> None:
    op.create_index(
        name,
        table,
        columns,
        unique=is_unique,
        sqlite_where=sa.text(where),
        postgresql_where=sa.text(where),
    )
