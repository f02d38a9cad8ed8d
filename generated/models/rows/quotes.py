# Generated from schemas/entities/quotes.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7f205d2648f95ac05343f82675cb180e; generator 1

"""A row of quotes."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class Quotes(BaseModel):
    """
    What an operator asks for a flight.

    Schema: schemas/entities/quotes.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_quote_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the quote."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the request for proposal that it answers."""

    request_id: str | None = None
    """The request that it answers."""

    operator_profile_id: str | None = None
    """The operator who quotes."""

    status: Literal["received", "accepted", "rejected", "expired"] | None = None
    """Where the quote stands."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """The type of the offered aircraft, such as Citation X."""

    aircraft_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in the quote's currency."""

    currency: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the quote's currency."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; null where the quote has another currency."""

    base_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price before taxes and fees, in the quote's currency."""

    taxes_fees: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Taxes and fees, in the quote's currency."""

    valid_until: str | None = None
    """When the quote lapses."""

    notes: Annotated[str | None, Field(max_length=4000)] = None
    """What the operator adds in words."""

    rejection_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why the quote was rejected."""

    avinode_operator_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the operator who quotes."""

    operator_name: Annotated[str | None, Field(max_length=200)] = None
    """The operator's name when it quoted."""

    operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """The operator's rating by customers when it quoted, from 0 to 5."""

    operator_safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """The operator's safety rating when it quoted, such as ARGUS Gold."""

    aircraft_category: Literal["light", "midsize", "heavy", "ultra-long-range"] | None = None
    """The category of the offered aircraft."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """What is on board, such as wifi."""

    flight_minutes: Annotated[int | None, Field(ge=1, le=100000)] = None
    """Minutes from departure to arrival."""

    iso_request_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """The client's request behind it, in the table iso_requests."""

    details: dict[str, Any] | None = None
    """What agents note of the quote."""

    state_log: Annotated[list[StateReport] | None, Field(max_length=100)] = None
    """
    The states that messages have reported, in the order in which they happened. Where
    `applied` is false the state could not follow, and the row stayed as it was.
    """

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When the latest change in the row happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""
