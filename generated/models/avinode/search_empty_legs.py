# Generated from schemas/tools/avinode/search_empty_legs.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 378fbbff6505744b41bfcd7d2016a938; generator 1

"""Search empty legs.

Search positioning flights that operators sell at a discount.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import (
    AircraftCategory,
    DateRange,
    IcaoAirport,
    Operator,
    Passengers,
    UsDollars,
)
from generated.models.common.identifiers import Identifier


class SearchEmptyLegsInput(BaseModel):
    """
    Between which airports, when, and for how many.

    Schema: schemas/tools/avinode/search_empty_legs.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    departure_airport: IcaoAirport
    """ICAO code of the airport of departure, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the airport of arrival, such as KVNY."""

    date_range: DateRange
    """The days on which the flight may depart."""

    passengers: Passengers
    """Number of passengers."""

    max_price: UsDollars | None = None
    """Only flights that cost at most this, in US dollars."""


class Aircraft(BaseModel):
    """The aircraft that flies."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """The aircraft's id."""

    type: Annotated[str, Field(max_length=100)]
    """The aircraft's type, such as Phenom 300."""

    category: AircraftCategory
    """Size class of the aircraft."""

    capacity: Annotated[int, Field(ge=1, le=1000)]
    """Number of passenger seats."""


class Window(BaseModel):
    """When it may depart."""

    model_config = ConfigDict(
        extra="forbid",
    )
    from_: Annotated[str, Field(alias="from")]
    """Earliest departure, RFC 3339 in UTC."""

    to: str
    """Latest departure, RFC 3339 in UTC."""


class EmptyLeg(BaseModel):
    """A positioning flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """The flight's id."""

    aircraft: Aircraft
    operator: Operator
    """The company that flies it."""

    window: Window
    price: UsDollars
    """Price of the whole aircraft, in US dollars."""

    discount: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Percent off the usual price."""


class SearchEmptyLegsOutput(BaseModel):
    """
    Positioning flights that are sold at a discount.

    Schema: schemas/tools/avinode/search_empty_legs.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    empty_legs: Annotated[list[EmptyLeg], Field(max_length=200)]
    """The flights on offer, cheapest first."""

    total: Annotated[int, Field(ge=0)]
    """How many flights match; the list may hold fewer."""
