# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c827c1c245af38f513da7d91214464a; generator 1

"""The payload of rfq_received from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier


class Buyer(BaseModel):
    """The company that asks."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Its name."""


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="allow",
    )
    departure_airport: IcaoAirport | None = None
    """ICAO code of the airport of departure."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When it departs."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""


class RfqReceived(BaseModel):
    """
    A buyer asks this account, as an operator, for a proposal.

    Schema: schemas/webhooks/avinode/rfq_received.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["rfq_received"]
    """What happened."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message: the same when it is sent again."""

    timestamp: str
    """When it happened."""

    rfp_id: Identifier
    """Avinode's id of the request for proposal."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    buyer: Buyer | None = None
    flight: Flight | None = None
    quote_deadline: str | None = None
    """Until when operators may quote."""

    special_requirements: Annotated[str | None, Field(max_length=4000)] = None
    """Wishes in words."""
