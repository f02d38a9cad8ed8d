# Generated from schemas/common/aviation.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 435a5609d882745cc6e0b0a5ecb7511e; generator 1

"""Definitions that several contracts share: aviation."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode

IcaoAirport = TypeAliasType("IcaoAirport", Annotated[str, Field(pattern="^[A-Z]{4}$")])
"""ICAO code of an airport, four capital letters, such as KTEB."""


IataAirport = TypeAliasType("IataAirport", Annotated[str, Field(pattern="^[A-Z]{3}$")])
"""IATA code of an airport, three capital letters, such as TEB."""


Country = TypeAliasType("Country", Annotated[str, Field(pattern="^[A-Z]{2}$")])
"""Country, as an ISO 3166-1 alpha-2 code, such as US."""


Passengers = TypeAliasType("Passengers", Annotated[int, Field(ge=1, le=19)])
"""Number of passengers."""


AircraftCategory = TypeAliasType(
    "AircraftCategory", Literal["light", "midsize", "heavy", "ultra-long-range", "turboprop"]
)
"""Size class of an aircraft."""


ListedCategory = TypeAliasType(
    "ListedCategory", Literal["light", "midsize", "heavy", "ultra-long-range", "turboprop", "other"]
)
"""
Size class of an aircraft; `other` for airliners, helicopters and all that Avinode lists
besides.
"""


Rating = TypeAliasType(
    "Rating", Annotated[int, Field(ge=0, le=5)] | Annotated[float, Field(ge=0.0, le=5.0)]
)
"""Customer rating, from 0 to 5."""


UsDollars = TypeAliasType(
    "UsDollars",
    Annotated[int, Field(ge=0, le=1000000000)] | Annotated[float, Field(ge=0.0, le=1000000000.0)],
)
"""An amount in US dollars."""


Price = TypeAliasType(
    "Price",
    Annotated[int, Field(ge=0, le=1000000000000)]
    | Annotated[float, Field(ge=0.0, le=1000000000000.0)],
)
"""An amount in the currency that is named beside it."""


class DateRange(BaseModel):
    """
    A range of dates, inclusive.

    Schema: schemas/common/aviation.json#/$defs/DateRange
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_: Annotated[str, Field(alias="from")]
    """First day, YYYY-MM-DD."""

    to: str
    """Last day, YYYY-MM-DD; not before the first."""


class Operator(BaseModel):
    """
    The company that operates the aircraft.

    Schema: schemas/common/aviation.json#/$defs/Operator
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Identifier
    """Id of the operator, for `create_rfp`."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the operator."""

    rating: Rating | None = None
    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Safety rating of the operator, such as ARGUS Gold."""


class Quote(BaseModel):
    """
    An operator's offer for the flight.

    Schema: schemas/common/aviation.json#/$defs/Quote
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    quote_id: Identifier
    """Id of the quote."""

    thread_id: Identifier
    """Id of the thread with this operator, for avinode.send_message."""

    operator_id: Identifier
    """Id of the operator that sent the quote."""

    operator_name: Annotated[str, Field(max_length=200)]
    """Name of the operator that sent the quote."""

    aircraft_type: Annotated[str, Field(max_length=100)]
    """Type of the offered aircraft, such as Citation X."""

    aircraft_id: Identifier | None = None
    """Id of the offered aircraft."""

    currency: CurrencyCode
    """Currency of `total_price`, `base_price` and `taxes_fees`."""

    base_price: Price | None = None
    taxes_fees: Price | None = None
    total_price: Price
    base_price_usd: Price | None = None
    taxes_fees_usd: Price | None = None
    total_price_usd: Price | None = None
    rate_source: Literal["same", "fallback"] | None = None
    """
    Where the amounts in US dollars come from. `same`: the operator quoted them. `fallback`:
    converted at the gateway's fixed rate of `rate_date`, so they are approximate. Absent if
    no rate is known.
    """

    rate_date: str | None = None
    """Date of the fixed rate, if one was used."""

    response_time_minutes: Annotated[int, Field(ge=0)]
    """Whole minutes between the request for proposal and this quote."""

    valid_until: str | None = None
    """Time at which the quote expires, RFC 3339 in UTC."""

    notes: Annotated[str | None, Field(max_length=4000)] = None
    """Notes of the operator."""
