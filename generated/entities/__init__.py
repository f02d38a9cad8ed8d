# Generated from schemas/entities/*.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 005b2ce4904333744df95518895349e3; generator 1

"""The tables of entities."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import Table

from generated.entities.rows import Rows

TABLES: Final[Mapping[str, Table]] = MappingProxyType(
    {
        "bookings": Rows.metadata.tables["entity_bookings"],
        "conversations": Rows.metadata.tables["entity_conversations"],
        "messages": Rows.metadata.tables["entity_messages"],
        "operator_profiles": Rows.metadata.tables["entity_operator_profiles"],
        "quotes": Rows.metadata.tables["entity_quotes"],
        "requests": Rows.metadata.tables["entity_requests"],
        "trips": Rows.metadata.tables["entity_trips"],
    }
)
"""By kind."""
