# Generated from schemas/tools/amadeus/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dbe7481f06c0333b4f860349c2c40e73; generator 1

"""Search scheduled flights.

Search airline flights for one adult, one-way or round trip, cheapest first. Prices are in US
dollars; each result also has the original amount.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IataAirport
from generated.models.common.money import CurrencyCode, ExactAmount, UsdPrice


class SearchFlightsInput(BaseModel):
    """
    The airports and the dates.

    Schema: schemas/tools/amadeus/search_flights.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    origin: IataAirport
    """IATA code of the departure airport or city, such as JFK or NYC."""

    destination: IataAirport
    """IATA code of the arrival airport or city, such as LHR or LON."""

    departure_date: str
    """Local departure date, YYYY-MM-DD."""

    return_date: str | None = None
    """Local date of the return flight, YYYY-MM-DD. Omit it to search one-way flights."""


class Flight(BaseModel):
    """A one-way flight or a round trip."""

    model_config = ConfigDict(
        extra="forbid",
    )
    price: UsdPrice
    """
    Total price for one adult in US dollars. Includes the return flight if `return_date` was
    given.
    """

    currency: Literal["USD"]
    """Currency of `price`: always US dollars."""

    original_amount: ExactAmount
    """The price as quoted by Amadeus, as decimal text."""

    original_currency: CurrencyCode
    """Currency of `original_amount`."""

    rate_source: Literal["live", "fallback", "same"] | None
    """Source of the exchange rate used for `price`; null if no rate is available."""

    departure: Annotated[
        str, Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$")
    ]
    """Local departure date and time, without offset."""

    arrival: Annotated[
        str, Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$")
    ]
    """Local arrival date and time, without offset."""

    departure_airport: IataAirport
    """IATA code of the departure airport."""

    arrival_airport: IataAirport
    """IATA code of the arrival airport."""

    airline: Annotated[str, Field(max_length=200)]
    """Name of the airline that sells the first flight, or its code if Amadeus gives no name."""

    stops: Annotated[int, Field(ge=0, le=200)]
    """Number of stops on the outbound flight: changes of aircraft and technical stops."""

    return_departure: Annotated[
        str | None,
        Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"),
    ] = None
    """Local departure date and time of the return flight."""

    return_arrival: Annotated[
        str | None,
        Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"),
    ] = None
    """Local arrival date and time of the return flight."""

    return_stops: Annotated[int | None, Field(ge=0, le=200)] = None
    """Number of stops on the return flight."""


class SearchFlightsOutput(BaseModel):
    """
    Available flights for one adult.

    Schema: schemas/tools/amadeus/search_flights.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    flights: Annotated[list[Flight], Field(max_length=20)]
    """The flights, cheapest first. Flights without a price in US dollars are last."""

    count: Annotated[int, Field(ge=0, le=20)]
    """Number of flights in the list."""

    message: Annotated[str | None, Field(max_length=500)] = None
    """A note about the result: that nothing was found, or how prices were converted."""
