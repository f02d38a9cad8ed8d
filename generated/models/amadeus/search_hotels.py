# Generated from schemas/tools/amadeus/search_hotels.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f99006ce7f5ad64fe11685c067e6308f; generator 1

"""Search hotels.

Search rooms for one adult in the hotels nearest to a city centre, cheapest first. Prices are for
the whole stay, in US dollars; each result also has the original amount.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IataAirport
from generated.models.common.money import CurrencyCode, ExactAmount, UsdPrice


class SearchHotelsInput(BaseModel):
    """
    The city and the dates.

    Schema: schemas/tools/amadeus/search_hotels.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    city_code: IataAirport
    """IATA code of the city, such as LON."""

    check_in_date: str
    """Check-in date, YYYY-MM-DD."""

    check_out_date: str
    """Check-out date, YYYY-MM-DD, after the check-in date."""


class Hotel(BaseModel):
    """A hotel with its cheapest offer."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=200)]
    """Name of the hotel."""

    price: UsdPrice
    """Price of the whole stay in US dollars, including the taxes that Amadeus reports."""

    currency: Literal["USD"]
    """Currency of `price`: always US dollars."""

    original_amount: ExactAmount
    """The price of the whole stay as quoted by Amadeus, as decimal text."""

    original_currency: CurrencyCode
    """Currency of `original_amount`."""

    rate_source: Literal["live", "fallback", "same"] | None
    """Source of the exchange rate used for `price`; null if no rate is available."""

    rating: Annotated[int | None, Field(ge=1, le=5)]
    """Number of stars; null if Amadeus does not report it. Most results have null."""

    address: Annotated[str | None, Field(max_length=500)]
    """Street address; null if Amadeus does not report it. Most results have null."""


class SearchHotelsOutput(BaseModel):
    """
    Hotels near the city centre with a room for one adult.

    Schema: schemas/tools/amadeus/search_hotels.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    hotels: Annotated[list[Hotel], Field(max_length=40)]
    """The hotels, cheapest first. Hotels without a price in US dollars are last."""

    count: Annotated[int, Field(ge=0, le=40)]
    """Number of hotels in the list."""

    nights: Annotated[int, Field(ge=1, le=4000000)]
    """Number of nights. Each price is for all of them."""

    message: Annotated[str | None, Field(max_length=500)] = None
    """A note about the result: that nothing was found, or how prices were converted."""
