# Generated from schemas/tools/avinode/create_rfp.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 822a776f40213df86086e58f455be4db; generator 1

"""Create a request for proposal.

Send a request for proposal for a flight to operators.
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
    """ICAO code of the departure airport, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the arrival airport, such as KVNY."""

    passengers: Passengers
    """Number of passengers."""

    departure_date: str
    """Departure time, RFC 3339 with offset, such as 2026-12-01T14:00:00Z."""


class CreateRfpInput(BaseModel):
    """
    The flight, and the operators that receive the request.

    Schema: schemas/tools/avinode/create_rfp.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    flight_details: FlightDetails
    operator_ids: Annotated[list[Identifier], Field(max_length=50, min_length=1)]
    """Ids of the operators that receive the request, from the results of the searches."""

    request_id: Identifier | None = None
    """
    Id of the client's request in the table iso_requests. It is kept beside the request for
    proposal and its quotes, and not sent to Avinode.
    """

    deadline: str | None = None
    """Deadline for quotes, RFC 3339 with offset; not after the departure."""

    special_requirements: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Requirements as text, forwarded to the operators."""

    requirements: list[str] | dict[str, str | int | float | bool] | None = None
    """
    Single requirements, forwarded to the operators: a list of strings, or an object of named
    requirements.
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
    """Id of the request for proposal."""

    status: Literal["created"]
    """Status of the request."""

    operators_notified: Annotated[int, Field(ge=0)]
    """Number of operators that received the request."""

    created_at: str
    """Creation time, RFC 3339 in UTC."""

    deadline: str | None = None
    """Deadline for quotes, RFC 3339 in UTC."""
