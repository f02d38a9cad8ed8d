# Generated from schemas/common/clients.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2bac10f18566b119431d33186d191919; generator 1

"""Definitions that several contracts share: clients."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

CellText = TypeAliasType("CellText", Annotated[str, Field(max_length=50000)])
"""Text of a cell; a cell has at most 50,000 characters."""


ClientId = TypeAliasType(
    "ClientId", Annotated[str, Field(max_length=100, min_length=1, pattern="[^ ]")]
)
"""Id of a client in the client sheet, such as CL-001, not case-sensitive."""


VipStatus = TypeAliasType("VipStatus", Literal["standard", "silver", "gold", "platinum"])
"""VIP status of the client."""


class Preferences(BaseModel):
    """
    Preferences and needs of a client.

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
    Figures about a client's flights.

    Schema: schemas/common/clients.json#/$defs/History
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    total_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Number of flights so far; absent if the cell is not a number."""

    last_flight_date: str | None = None
    """Date of the last flight, YYYY-MM-DD; absent if the cell is not a date."""

    preferred_operators: Annotated[list[CellText] | None, Field(max_length=100)] = None
    """Ids of the client's preferred operators."""


class Client(BaseModel):
    """
    A client in the client sheet.

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
