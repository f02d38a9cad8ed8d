# Generated from schemas/tools/supabase/rpc.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6d1cfe1b3988015118bed503f80bc088; generator 1

"""Call a function.

Call a function of the database, such as the function that scores quotes.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Quote(BaseModel):
    """
    A quote. A criterion with missing or null values gets 50 points, and the result lists it
    under `missing`.
    """

    model_config = ConfigDict(
        extra="allow",
    )
    id: Annotated[str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")] = None
    """Id of the quote, if `quote_id` is absent."""

    quote_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Id of the quote."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars."""

    operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Rating of the operator."""

    flight_minutes: Annotated[int | float | None, Field(ge=1.0, le=100000.0)] = None
    """Flight time in minutes."""

    aircraft_category: Annotated[str | None, Field(max_length=40)] = None
    """light, midsize, heavy or ultra-long-range. Any other value counts as missing."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """Amenities on board."""


class ClientPreferences(BaseModel):
    """Preferences of the client. Absent members have no effect."""

    model_config = ConfigDict(
        extra="allow",
    )
    max_budget: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Budget of the client, in US dollars. Quotes above it lose price points in proportion."""

    min_operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """
    Minimum rating that the client accepts. Operators below it get half of their safety
    points.
    """

    aircraft_category: Annotated[str | None, Field(max_length=40)] = None
    """Preferred category. An aircraft of this category gets all comfort points for the aircraft."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """
    Requested amenities. The share of them that is on board determines half of the comfort
    points.
    """


class Weights(BaseModel):
    """
    Weight of each criterion, relative to the sum of the weights. An absent weight keeps its
    default. The sum must be above 0.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    price: Annotated[int | float, Field(ge=0.0, le=1.0)] = 0.3
    """Price."""

    safety: Annotated[int | float, Field(ge=0.0, le=1.0)] = 0.35
    """Safety."""

    speed: Annotated[int | float, Field(ge=0.0, le=1.0)] = 0.15
    """Speed."""

    comfort: Annotated[int | float, Field(ge=0.0, le=1.0)] = 0.2
    """Comfort."""


class Score(BaseModel):
    """The points of one quote, from 0 to 100 with two decimals."""

    model_config = ConfigDict(
        extra="forbid",
    )
    quote_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Id of the quote."""

    price_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for the price."""

    safety_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for safety."""

    speed_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for speed."""

    comfort_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for comfort."""

    total_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Weighted mean of the four scores."""

    rank: Annotated[int, Field(ge=1, le=200)]
    """Rank, from 1. Equal totals have the same rank, and the next ranks are skipped."""

    missing: Annotated[list[Literal["price", "safety", "speed", "comfort"]], Field(max_length=4)]
    """The criteria for which the quote has no value. Each gets 50 points."""


class ResultWeights(BaseModel):
    """Share of each criterion. The shares add up to 1, except for rounding."""

    model_config = ConfigDict(
        extra="forbid",
    )
    price: Annotated[int | float, Field(ge=0.0, le=1.0)]
    """Share of the price."""

    safety: Annotated[int | float, Field(ge=0.0, le=1.0)]
    """Share of safety."""

    speed: Annotated[int | float, Field(ge=0.0, le=1.0)]
    """Share of speed."""

    comfort: Annotated[int | float, Field(ge=0.0, le=1.0)]
    """Share of comfort."""


class Params(BaseModel):
    """The arguments of the function."""

    model_config = ConfigDict(
        extra="forbid",
    )
    quotes: Annotated[list[Quote], Field(max_length=200)]
    """The quotes to compare, such as rows of the table quotes."""

    client_preferences: ClientPreferences | None = None
    weights: Weights | None = None


class RpcInput(BaseModel):
    """
    The function and its arguments.

    Schema: schemas/tools/supabase/rpc.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    function: Literal["calculate_quote_scores"]
    """The function. `calculate_quote_scores` scores and ranks quotes."""

    params: Params


class Result(BaseModel):
    """The scores of the quotes, and the weights that were used."""

    model_config = ConfigDict(
        extra="forbid",
    )
    scores: Annotated[list[Score], Field(max_length=200)]
    """One score per quote, best first. Equal scores keep the order of the call."""

    weights: ResultWeights


class RpcOutput(BaseModel):
    """
    The result of the function.

    Schema: schemas/tools/supabase/rpc.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    function: Literal["calculate_quote_scores"]
    """The function."""

    result: Result
