# Generated from schemas/entities/bookings.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 63e89b1c67034a3ecdb89bc18e5aa417; generator 1

"""Bookings.

List the bookings that Avinode's messages reported, last changed first, in pages.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class BookingsInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/bookings.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_booking_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only the booking with this Avinode id."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only bookings for this request for proposal (Avinode id)."""

    request_id: str | None = None
    """Only bookings for this request (row id)."""

    quote_id: str | None = None
    """Only bookings of this accepted quote (row id)."""

    trip_id: str | None = None
    """Only bookings of this trip (row id)."""

    status: Literal["confirmed", "cancelled"] | None = None
    """Only bookings with this status."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """A booked flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_booking_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the booking."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the request for proposal."""

    request_id: str | None = None
    """Id of the row in requests."""

    quote_id: str | None = None
    """Id of the accepted quote's row in quotes."""

    trip_id: str | None = None
    """Id of the row in trips."""

    operator_profile_id: str | None = None
    """Id of the operator's row in operator_profiles."""

    status: Literal["confirmed", "cancelled"] | None = None
    """Status of the booking."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the departure airport."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """Type of the aircraft."""

    total_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in the booking's currency."""

    currency: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the booking's currency."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; null if the booking has another currency."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Reason for the cancellation."""

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


class BookingsOutput(BaseModel):
    """
    One page of the bookings.

    Schema: schemas/entities/bookings.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
