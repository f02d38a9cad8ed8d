# Generated from schemas/entities/quotes.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fc0cbf8c48b2aa330bd62594a26ed81b; generator 1

"""Quotes.

List the quotes that Avinode's messages reported, last changed first, in pages.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class QuotesInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/quotes.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_quote_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only the quote with this Avinode id."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only quotes for this request for proposal (Avinode id)."""

    request_id: str | None = None
    """Only quotes for this request (row id)."""

    operator_profile_id: str | None = None
    """Only quotes from this operator (row id)."""

    status: Literal["received", "accepted", "rejected", "expired"] | None = None
    """Only quotes with this status."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """An operator's offer for a flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_quote_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the quote."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the request for proposal."""

    request_id: str | None = None
    """Id of the row in requests."""

    operator_profile_id: str | None = None
    """Id of the operator's row in operator_profiles."""

    status: Literal["received", "accepted", "rejected", "expired"] | None = None
    """Status of the quote."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """Type of the offered aircraft, such as Citation X."""

    aircraft_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in the quote's currency."""

    currency: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the quote's currency."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; null if the quote has another currency."""

    base_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price before taxes and fees, in the quote's currency."""

    taxes_fees: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Taxes and fees, in the quote's currency."""

    valid_until: str | None = None
    """When the quote expires."""

    notes: Annotated[str | None, Field(max_length=4000)] = None
    """Notes of the operator."""

    rejection_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Reason for the rejection."""

    avinode_operator_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the operator."""

    operator_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the operator at the time of the quote."""

    operator_rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Customer rating of the operator at the time of the quote, from 0 to 5."""

    operator_safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Safety rating of the operator at the time of the quote, such as ARGUS Gold."""

    aircraft_category: Literal["light", "midsize", "heavy", "ultra-long-range"] | None = None
    """Category of the offered aircraft."""

    amenities: Annotated[list[str] | None, Field(max_length=50)] = None
    """Amenities on board, such as wifi."""

    flight_minutes: Annotated[int | None, Field(ge=1, le=100000)] = None
    """Flight time in minutes."""

    iso_request_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Id of the client's request in the table iso_requests."""

    details: dict[str, Any] | None = None
    """Notes of the agents about the quote."""

    state_log: Annotated[list[StateReport] | None, Field(max_length=100)] = None
    """
    The states that messages reported, in the order in which they happened. If `applied` is
    false, the state was not a valid next state, and the row was not changed.
    """

    webhook_id: str
    """Id of the message that last wrote the row."""

    occurred_at: str
    """When the last change in the row happened."""

    created_at: str
    """When the gateway first wrote the row."""

    updated_at: str
    """When the gateway last wrote the row."""


class QuotesOutput(BaseModel):
    """
    One page of the quotes.

    Schema: schemas/entities/quotes.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
