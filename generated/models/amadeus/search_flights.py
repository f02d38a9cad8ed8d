# Generated from schemas/tools/amadeus/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4227d8eaf50eecc939bd63543779c313; generator 1

"""Search scheduled flights.

Search flights of airlines for one adult, one way or there and back, cheapest first. Prices are in
US dollars, with the original amount beside them.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IataAirport
from generated.models.common.money import CurrencyCode, ExactAmount, UsdPrice


class SearchFlightsInput(BaseModel):
    """
    From where to where, and when.

    Schema: schemas/tools/amadeus/search_flights.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    origin: IataAirport
    """IATA code of the airport or city of departure, such as JFK or NYC."""

    destination: IataAirport
    """IATA code of the airport or city of arrival, such as LHR or LON."""

    departure_date: str
    """Local date of departure, YYYY-MM-DD."""

    return_date: str | None = None
    """Local date of the flight back, YYYY-MM-DD. Without it, only one-way flights are found."""


class Flight(BaseModel):
    """A flight, or a flight there and back."""

    model_config = ConfigDict(
        extra="forbid",
    )
    price: UsdPrice
    """Total price for one adult in US dollars, there and back if a return date was given."""

    currency: Literal["USD"]
    """Currency of `price`: always US dollars."""

    original_amount: ExactAmount
    """The price as Amadeus quoted it, as decimal text."""

    original_currency: CurrencyCode
    """Currency of `original_amount`."""

    rate_source: Literal["live", "fallback", "same"] | None
    """Where the rate behind `price` comes from; null where there is none."""

    departure: Annotated[
        str, Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$")
    ]
    """Local date and time of departure, without offset."""

    arrival: Annotated[
        str, Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$")
    ]
    """Local date and time of arrival, without offset."""

    departure_airport: IataAirport
    """IATA code of the airport of departure."""

    arrival_airport: IataAirport
    """IATA code of the airport of arrival."""

    airline: Annotated[str, Field(max_length=200)]
    """Name of the airline that sells the first flight; its code where Amadeus gives no name."""

    stops: Annotated[int, Field(ge=0, le=200)]
    """Stops on the way there: changes of aircraft and technical stops."""

    return_departure: Annotated[
        str | None,
        Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"),
    ] = None
    """Local date and time of departure of the flight back."""

    return_arrival: Annotated[
        str | None,
        Field(max_length=19, pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}$"),
    ] = None
    """Local date and time of arrival of the flight back."""

    return_stops: Annotated[int | None, Field(ge=0, le=200)] = None
    """Stops on the way back."""


class SearchFlightsOutput(BaseModel):
    """
    Flights on offer for one adult.

    Schema: schemas/tools/amadeus/search_flights.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    flights: Annotated[list[Flight], Field(max_length=20)]
    """The flights, cheapest first; those without a price in US dollars last."""

    count: Annotated[int, Field(ge=0, le=20)]
    """How many flights there are in the list."""

    message: Annotated[str | None, Field(max_length=500)] = None
    """What to know about this answer: that nothing was found, or how prices were converted."""
