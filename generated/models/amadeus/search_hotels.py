# Generated from schemas/tools/amadeus/search_hotels.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e83f71dfa3e12f20a0f8df7d2a1783ab; generator 1

"""Search hotels.

Search rooms for one adult in the hotels nearest to a city's centre, cheapest first. Prices are for
the whole stay, in US dollars, with the original amount beside them.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IataAirport
from generated.models.common.money import CurrencyCode, ExactAmount, UsdPrice


class SearchHotelsInput(BaseModel):
    """
    Where, and for which nights.

    Schema: schemas/tools/amadeus/search_hotels.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    city_code: IataAirport
    """IATA code of the city, such as LON."""

    check_in_date: str
    """First day of the stay, YYYY-MM-DD."""

    check_out_date: str
    """Day of departure, YYYY-MM-DD; after the first day."""


class Hotel(BaseModel):
    """A hotel with its cheapest offer."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=200)]
    """Name of the hotel."""

    price: UsdPrice
    """Price of the whole stay in US dollars, taxes that Amadeus knows of included."""

    currency: Literal["USD"]
    """Currency of `price`: always US dollars."""

    original_amount: ExactAmount
    """The price of the whole stay as Amadeus quoted it, as decimal text."""

    original_currency: CurrencyCode
    """Currency of `original_amount`."""

    rate_source: Literal["live", "fallback", "same"] | None
    """Where the rate behind `price` comes from; null where there is none."""

    rating: Annotated[int | None, Field(ge=1, le=5)]
    """Stars of the hotel; null where Amadeus does not report it, as in most answers."""

    address: Annotated[str | None, Field(max_length=500)]
    """Street address of the hotel; null where Amadeus does not report it, as in most answers."""


class SearchHotelsOutput(BaseModel):
    """
    Hotels near the city's centre that have a room for one adult.

    Schema: schemas/tools/amadeus/search_hotels.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    hotels: Annotated[list[Hotel], Field(max_length=40)]
    """The hotels, cheapest first; those without a price in US dollars last."""

    count: Annotated[int, Field(ge=0, le=40)]
    """How many hotels there are in the list."""

    nights: Annotated[int, Field(ge=1, le=4000000)]
    """Nights of the stay, which each price is for."""

    message: Annotated[str | None, Field(max_length=500)] = None
    """What to know about this answer: that nothing was found, or how prices were converted."""
