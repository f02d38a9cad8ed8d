# Generated from schemas/tools/avinode/search_empty_legs.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5a375810eade30e350f974df175a0eff; generator 1

"""Search empty legs.

Search positioning flights that operators sell at a discount.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import (
    DateRange,
    IcaoAirport,
    ListedCategory,
    Operator,
    Passengers,
    UsDollars,
)
from generated.models.common.identifiers import Identifier


class SearchEmptyLegsInput(BaseModel):
    """
    The airports, the dates and the number of passengers.

    Schema: schemas/tools/avinode/search_empty_legs.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    departure_airport: IcaoAirport
    """ICAO code of the departure airport, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the arrival airport, such as KVNY."""

    date_range: DateRange
    """The days on which the flight may depart."""

    passengers: Passengers
    """Number of passengers."""

    max_price: UsDollars | None = None
    """Maximum price, in US dollars."""


class Aircraft(BaseModel):
    """The aircraft."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """Id of the aircraft."""

    type: Annotated[str, Field(max_length=100)]
    """Type of the aircraft, such as Phenom 300."""

    category: ListedCategory
    """Size class of the aircraft."""

    capacity: Annotated[int, Field(ge=1, le=1000)]
    """Number of passenger seats."""


class Window(BaseModel):
    """The period in which the flight can depart."""

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
    """Id of the flight."""

    aircraft: Aircraft
    operator: Operator
    """The company that operates the aircraft."""

    window: Window
    price: UsDollars
    """Price of the whole aircraft, in US dollars."""

    discount: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Discount on the usual price, in percent."""


class SearchEmptyLegsOutput(BaseModel):
    """
    Positioning flights that are sold at a discount.

    Schema: schemas/tools/avinode/search_empty_legs.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    empty_legs: Annotated[list[EmptyLeg], Field(max_length=200)]
    """The available flights, cheapest first."""

    total: Annotated[int, Field(ge=0)]
    """Number of flights that match. The list may have fewer."""
