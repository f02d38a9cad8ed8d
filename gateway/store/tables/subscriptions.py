"""The table of subscriptions of MCP clients."""

from datetime import datetime
from typing import Final

from sqlalchemy import Column, Index, Table, Text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel


class SubscriptionRow(StoreModel, table=True):
    """A `SubscribedSession` with the URIs that it has subscribed to."""

    __tablename__ = "mcp_subscriptions"
    __table_args__ = (
        Index("mcp_subscriptions_by_subject", "subject", "seen_at"),
        Index("mcp_subscriptions_by_age", "seen_at"),
    )

    session: str = Field(sa_column=Column(WORD, primary_key=True))
    subject: str = Field(sa_column=Column(WORD, primary_key=True))
    connector: str = Field(sa_column=Column(WORD, primary_key=True))
    uris: str = Field(sa_column=Column(Text, nullable=False))
    """JSON text."""
    seen_at: datetime = Field(sa_column=Column(Moment, nullable=False))


MCP_SUBSCRIPTIONS: Final[Table] = METADATA.tables["mcp_subscriptions"]
