# Generated from schemas/tools/avinode/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 65ef4becab6515408408bd0da561c6bf; generator 1

"""Search charter flights.

Search aircraft that can fly one leg on one date. Broker accounts may not search through the API:
the result is an empty list with a notice. With create_trip, the tool then creates a trip and
returns a link to search from it on the Avinode website.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import (
    AircraftCategory,
    IcaoAirport,
    ListedCategory,
    Operator,
    Passengers,
    Rating,
    UsDollars,
)
from generated.models.common.identifiers import Identifier


class SearchFlightsInput(BaseModel):
    """
    One leg on one date, and the requirements for the aircraft.

    Schema: schemas/tools/avinode/search_flights.input.json
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
    """Departure date, YYYY-MM-DD."""

    aircraft_category: AircraftCategory | None = None
    """Only aircraft of this size class."""

    aircraft_types: Annotated[list[str] | None, Field(max_length=20, min_length=1)] = None
    """
    Only aircraft of these classes (light-jet, mid-jet, heavy-jet, ultra-long-range-jet) or
    types, such as Citation X.
    """

    max_budget: UsDollars | None = None
    """Maximum estimated price, in US dollars."""

    min_operator_rating: Rating | None = None
    """Minimum rating of the operator, from 0 to 5."""

    create_trip: bool = False
    """
    If the account may not search through the API: create a trip, and return a link to search
    from it. Needs the grant for create_trip.
    """


class Aircraft(BaseModel):
    """An available aircraft."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """Id of the aircraft."""

    type: Annotated[str, Field(max_length=100)]
    """Type of the aircraft, such as Citation X."""

    category: ListedCategory
    """Size class of the aircraft."""

    capacity: Annotated[int, Field(ge=1, le=1000)]
    """Number of passenger seats."""

    range_nm: Annotated[int | None, Field(ge=0, le=20000)] = None
    """Range in nautical miles."""

    speed_kts: Annotated[int | None, Field(ge=0, le=2000)] = None
    """Cruise speed in knots."""

    operator: Operator
    """The company that operates the aircraft."""

    availability: Literal["available", "on_request"]
    """Whether the aircraft is available on that date, or only the operator can confirm it."""

    estimated_price_usd: UsDollars
    """Estimated price of the leg, in US dollars."""


class SearchFlightsOutput(BaseModel):
    """
    The aircraft that can fly the leg, or a link to search for them.

    Schema: schemas/tools/avinode/search_flights.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    aircraft: Annotated[list[Aircraft], Field(max_length=200)]
    """The available aircraft, cheapest first."""

    total: Annotated[int, Field(ge=0)]
    """Number of aircraft that match. The list may have fewer."""

    query_time_ms: Annotated[int, Field(ge=0)]
    """Duration of the search, in milliseconds."""

    trip_id: Identifier | None = None
    """Id of the trip that was created, with create_trip."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """Link to search on the Avinode website, if the account may not search through the API."""

    notice: Annotated[str | None, Field(max_length=500)] = None
    """A note about the result."""
