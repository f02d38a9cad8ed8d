# Generated from schemas/tools/avinode/create_rfp.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5e808580da8f38c756b22283c586e972; generator 1

"""Create a request for proposal.

Ask operators for proposals for a flight.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport, Passengers
from generated.models.common.identifiers import Identifier


class FlightDetails(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    departure_airport: IcaoAirport
    """ICAO code of the airport of departure, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the airport of arrival, such as KVNY."""

    passengers: Passengers
    """Number of passengers."""

    departure_date: str
    """Departure, RFC 3339 with offset, such as 2026-12-01T14:00:00Z."""


class CreateRfpInput(BaseModel):
    """
    The flight, and whom to ask.

    Schema: schemas/tools/avinode/create_rfp.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    flight_details: FlightDetails
    operator_ids: Annotated[list[Identifier], Field(max_length=50, min_length=1)]
    """The operators to ask, by the ids that the searches answer."""

    deadline: str | None = None
    """Until when operators may quote, RFC 3339 with offset."""

    special_requirements: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Wishes in words, passed on to the operators."""

    requirements: list[str] | dict[str, str | int | float | bool] | None = None
    """
    Wishes one by one, passed on to the operators: a list of texts, or an object of named
    wishes.
    """


class CreateRfpOutput(BaseModel):
    """
    The request for proposal that was sent.

    Schema: schemas/tools/avinode/create_rfp.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id."""

    status: Literal["created"]
    """The state of the request."""

    operators_notified: Annotated[int, Field(ge=0)]
    """How many operators were asked."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""

    deadline: str | None = None
    """Until when operators may quote, RFC 3339 in UTC."""
