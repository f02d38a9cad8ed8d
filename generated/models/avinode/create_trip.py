# Generated from schemas/tools/avinode/create_trip.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 89cde601644ee751f9ce94cdd8aff75e; generator 1

"""Create a trip.

Create a trip in Avinode and return a link to choose operators for it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport, Passengers
from generated.models.common.identifiers import Identifier


class CreateTripInput(BaseModel):
    """
    The flight, and the flight back if there is one.

    Schema: schemas/tools/avinode/create_trip.input.json
    """

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

    return_date: str | None = None
    """Departure of the flight back, RFC 3339 with offset; not before the flight there."""


class CreateTripOutput(BaseModel):
    """
    The trip, and where to go on.

    Schema: schemas/tools/avinode/create_trip.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    trip_id: Identifier
    """The trip's id."""

    deep_link: Annotated[str, Field(max_length=2048)]
    """Where to choose operators on the Avinode website."""

    status: Literal["created"]
    """The state of the trip."""

    next_action: Literal["OPEN_AVINODE"]
    """What to do next."""

    message: Annotated[str, Field(max_length=200)]
    """The same in words."""
