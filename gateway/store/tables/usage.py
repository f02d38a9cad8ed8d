"""The table of what callers have used of their limits."""

from datetime import datetime
from typing import Final

from sqlalchemy import Column, Index, Table, Text
from sqlmodel import Field

from gateway.store.tables.base import METADATA, WORD, Moment, StoreModel


class LimitCounterRow(StoreModel, table=True):
    """A counter; see `gateway.store.usage`."""

    __tablename__ = "limit_counters"
    __table_args__ = (Index("limit_counters_by_end", "ends_at"),)

    id: str = Field(sa_column=Column(WORD, primary_key=True))
    entries: str = Field(sa_column=Column(Text, nullable=False))
    """JSON."""
    ends_at: datetime = Field(sa_column=Column(Moment, nullable=False))
    """When its last entry ends."""


LIMIT_COUNTERS: Final[Table] = METADATA.tables["limit_counters"]
