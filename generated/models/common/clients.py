# Generated from schemas/common/clients.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a9ba221d15d10a74c768e32807469191; generator 1

"""Definitions that several contracts share: clients."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

CellText = TypeAliasType("CellText", Annotated[str, Field(max_length=50000)])
"""What a cell of a sheet says; a cell holds at most 50,000 characters."""


ClientId = TypeAliasType(
    "ClientId", Annotated[str, Field(max_length=100, min_length=1, pattern="[^ ]")]
)
"""A client's id in the client sheet, such as CL-001; upper and lower case are the same."""


VipStatus = TypeAliasType("VipStatus", Literal["standard", "silver", "gold", "platinum"])
"""How the client is to be treated."""


class Preferences(BaseModel):
    """
    What a client likes and needs.

    Schema: schemas/common/clients.json#/$defs/Preferences
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    aircraft_category: CellText | None = None
    catering: CellText | None = None
    special_needs: CellText | None = None


class History(BaseModel):
    """
    A client's flights in figures.

    Schema: schemas/common/clients.json#/$defs/History
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    total_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Flights so far; left out where the cell holds no number."""

    last_flight_date: str | None = None
    """Day of the last flight, YYYY-MM-DD; left out where the cell holds no date."""

    preferred_operators: Annotated[list[CellText] | None, Field(max_length=100)] = None
    """Ids of the operators that the client prefers."""


class Client(BaseModel):
    """
    A client of the client sheet.

    Schema: schemas/common/clients.json#/$defs/Client
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    name: CellText | None = None
    email: CellText | None = None
    phone: CellText | None = None
    company: CellText | None = None
    preferences: Preferences
    history: History
    vip_status: VipStatus | None = None
