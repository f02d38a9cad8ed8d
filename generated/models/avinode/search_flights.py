# Generated from schemas/tools/avinode/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5491ce7659bac0a8b2aafc1d5c666d8a; generator 1

"""Search charter flights.

Search aircraft that can fly one leg on one date. Accounts of brokers may not search through the
API; they get an empty list and a notice, and with create_trip a trip and a link to search from it
on the Avinode website.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import (
    AircraftCategory,
    IcaoAirport,
    Operator,
    Passengers,
    Rating,
    UsDollars,
)
from generated.models.common.identifiers import Identifier


class SearchFlightsInput(BaseModel):
    """
    One leg on one date, and what the aircraft must be like.

    Schema: schemas/tools/avinode/search_flights.input.json
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
    """Date of departure, YYYY-MM-DD."""

    aircraft_category: AircraftCategory | None = None
    """Only aircraft of this size class."""

    aircraft_types: Annotated[list[str] | None, Field(max_length=20, min_length=1)] = None
    """
    Only aircraft of one of these: a class (light-jet, mid-jet, heavy-jet,
    ultra-long-range-jet) or a type by its name, such as Citation X.
    """

    max_budget: UsDollars | None = None
    """Only aircraft whose estimated price is at most this, in US dollars."""

    min_operator_rating: Rating | None = None
    """Only operators rated at least this, from 0 to 5."""

    create_trip: bool = False
    """
    Create a trip to search from where the account may not search through the API. Needs the
    grant of create_trip.
    """


class Aircraft(BaseModel):
    """An aircraft on offer."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """The aircraft's id."""

    type: Annotated[str, Field(max_length=100)]
    """The aircraft's type, such as Citation X."""

    category: AircraftCategory
    """Size class of the aircraft."""

    capacity: Annotated[int, Field(ge=1, le=1000)]
    """Number of passenger seats."""

    range_nm: Annotated[int | None, Field(ge=0, le=20000)] = None
    """Range in nautical miles."""

    speed_kts: Annotated[int | None, Field(ge=0, le=2000)] = None
    """Cruise speed in knots."""

    operator: Operator
    """The company that flies it."""

    availability: Literal["available", "on_request"]
    """Whether the aircraft is free on that date, or the operator must be asked."""

    estimated_price_usd: UsDollars
    """Estimated price of the leg, in US dollars."""


class SearchFlightsOutput(BaseModel):
    """
    The aircraft that can fly the leg, or a link to look for them.

    Schema: schemas/tools/avinode/search_flights.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    aircraft: Annotated[list[Aircraft], Field(max_length=200)]
    """The aircraft on offer, cheapest first."""

    total: Annotated[int, Field(ge=0)]
    """How many aircraft match; the list may hold fewer."""

    query_time_ms: Annotated[int, Field(ge=0)]
    """How long the search took, in milliseconds."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """Where to search on the Avinode website, when the account may not search through the API."""

    notice: Annotated[str | None, Field(max_length=500)] = None
    """What to know about this answer."""
