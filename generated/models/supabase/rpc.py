# Generated from schemas/tools/supabase/rpc.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8471512f4b4ef7310776506a4f93b4fe; generator 1

"""Call a function.

Call a function of the database, such as the scoring of quotes.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Quote(BaseModel):
    """A quote. What is missing or null counts 50 points, and the result says so."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Annotated[str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")] = None
    """The quote's id, unless quote_id gives it."""

    quote_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """The quote's id."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars."""

    operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """The operator's rating."""

    flight_minutes: Annotated[int | float | None, Field(ge=1.0, le=100000.0)] = None
    """Minutes from departure to arrival."""

    aircraft_category: Annotated[str | None, Field(max_length=40)] = None
    """light, midsize, heavy or ultra-long-range; another counts as missing."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """What is on board."""


class ClientPreferences(BaseModel):
    """What the client prefers. Missing members count for nothing."""

    model_config = ConfigDict(
        extra="allow",
    )
    max_budget: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """What the client would spend, in US dollars. Dearer quotes lose price points in proportion."""

    min_operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """The least rating the client accepts. Operators below it get half their safety points."""

    aircraft_category: Annotated[str | None, Field(max_length=40)] = None
    """The category that the client prefers: it gets all comfort points of the aircraft."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """What the client wants on board: the share that is there is half of the comfort points."""


class Weights(BaseModel):
    """
    What each criterion counts, in proportion to their sum. Missing ones keep their default;
    their sum is above 0.
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
    """A quote's points, from 0 to 100 with two decimals."""

    model_config = ConfigDict(
        extra="forbid",
    )
    quote_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """The quote's id."""

    price_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for the price."""

    safety_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for safety."""

    speed_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for speed."""

    comfort_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Points for comfort."""

    total_score: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """The weighted mean of the four."""

    rank: Annotated[int, Field(ge=1, le=200)]
    """The place, from 1. Equal totals share a place, and the next places stay empty."""

    missing: Annotated[list[Literal["price", "safety", "speed", "comfort"]], Field(max_length=4)]
    """The criteria that the quote says nothing of, which count 50 points."""


class ResultWeights(BaseModel):
    """The share of each criterion; their sum is 1 but for rounding."""

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
    """What the function is given."""

    model_config = ConfigDict(
        extra="forbid",
    )
    quotes: Annotated[list[Quote], Field(max_length=200)]
    """The quotes to compare, such as rows of the table quotes."""

    client_preferences: ClientPreferences | None = None
    weights: Weights | None = None


class RpcInput(BaseModel):
    """
    A function of the database, and what to give it.

    Schema: schemas/tools/supabase/rpc.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    function: Literal["calculate_quote_scores"]
    """The function. `calculate_quote_scores` scores and ranks quotes."""

    params: Params


class Result(BaseModel):
    """The quotes with their points, and what each criterion counted."""

    model_config = ConfigDict(
        extra="forbid",
    )
    scores: Annotated[list[Score], Field(max_length=200)]
    """One score per quote, best first; of equals the one given first."""

    weights: ResultWeights


class RpcOutput(BaseModel):
    """
    What the function answers.

    Schema: schemas/tools/supabase/rpc.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    function: Literal["calculate_quote_scores"]
    """The function."""

    result: Result
