# Generated from schemas/tools/avinode/create_trip.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 123bd76b78fb9820c4f47d207d9465a0; generator 1

"""Create a trip.

Create a trip in Avinode and return a link to choose operators for it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport, Passengers
from generated.models.common.identifiers import Identifier


class CreateTripInput(BaseModel):
    """
    The flight, and the return flight if there is one.

    Schema: schemas/tools/avinode/create_trip.input.json
    """

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

    return_date: str | None = None
    """Departure time of the return flight, RFC 3339 with offset; not before the outbound flight."""


class CreateTripOutput(BaseModel):
    """
    The trip, and the link to continue.

    Schema: schemas/tools/avinode/create_trip.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    trip_id: Identifier
    """Id of the trip."""

    deep_link: Annotated[str, Field(max_length=2048)]
    """Link to choose operators on the Avinode website."""

    status: Literal["created"]
    """Status of the trip."""

    next_action: Literal["OPEN_AVINODE"]
    """The next step."""

    message: Annotated[str, Field(max_length=200)]
    """The next step in words."""
