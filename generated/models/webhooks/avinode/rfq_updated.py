# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of rfq_updated from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier


class Buyer(BaseModel):
    """The company that requests the proposal."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the company."""


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="allow",
    )
    departure_airport: IcaoAirport | None = None
    """ICAO code of the departure airport."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""


class RfqUpdated(BaseModel):
    """
    A buyer has changed a request for proposal.

    Schema: schemas/webhooks/avinode/rfq_updated.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["rfq_updated"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    rfp_id: Identifier
    """Avinode's id of the request for proposal."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    buyer: Buyer | None = None
    flight: Flight | None = None
    quote_deadline: str | None = None
    """Deadline for quotes."""

    special_requirements: Annotated[str | None, Field(max_length=4000)] = None
    """Special requirements, as text."""
