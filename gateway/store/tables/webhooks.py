"""The tables of received webhooks and of their keys."""

from datetime import datetime
from typing import Final

from sqlalchemy import Boolean, Column, Index, LargeBinary, Table, Text, text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel

CONFLICTING: Final = text("is_conflict")
"""The predicate of the index `webhooks_conflicting`. `ON CONFLICT` needs it to use that index."""
_WITH_BODY: Final = text("body IS NOT NULL")


class WebhookKeyRow(StoreModel, table=True):
    """The key that detects repetitions of a message. It is kept longer than the message's body."""

    __tablename__ = "webhook_keys"
    __table_args__ = (Index("webhook_keys_by_webhook", "webhook_id"),)

    provider: str = Field(sa_column=Column(WORD, primary_key=True))
    message_id: str = Field(sa_column=Column(WORD, primary_key=True))
    body_sha256: str = Field(sa_column=Column(WORD, nullable=False))
    webhook_id: str = Field(sa_column=Column(WORD, nullable=False))
    seen_at: datetime = Field(sa_column=Column(Moment, nullable=False))


class WebhookRow(StoreModel, table=True):
    """A `StoredWebhook`."""

    __tablename__ = "webhooks"
    __table_args__ = (
        Index("webhooks_by_provider", "provider", "id"),
        Index(
            "webhooks_conflicting",
            "provider",
            "message_id",
            "body_sha256",
            unique=True,
            sqlite_where=CONFLICTING,
            postgresql_where=CONFLICTING,
        ),
        Index("webhooks_by_age", "received_at"),
        Index("webhooks_with_body", "id", sqlite_where=_WITH_BODY, postgresql_where=_WITH_BODY),
    )

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    provider: str = Field(sa_column=Column(WORD, nullable=False))
    profile: str = Field(sa_column=Column(WORD, nullable=False))
    message_id: str = Field(sa_column=Column(WORD, nullable=False))
    event_type: str = Field(sa_column=Column(WORD, nullable=False))
    body: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    """The exact bytes that were received. None after retention has removed them."""
    body_sha256: str = Field(sa_column=Column(WORD, nullable=False))
    headers: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    contract: str = Field(sa_column=Column(WORD, nullable=False))
    received_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    derived_from: str | None = Field(default=None, sa_column=Column(WORD))
    is_conflict: bool = Field(sa_column=Column(Boolean, nullable=False))
    refusals: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    job_id: str = Field(sa_column=Column(WORD, nullable=False))
    """The job of its newest attempt set."""


WEBHOOK_KEYS: Final[Table] = METADATA.tables["webhook_keys"]
WEBHOOKS: Final[Table] = METADATA.tables["webhooks"]
