# Generated from schemas/entities/bookings.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e0203dd1fb61cd57d25c51a4e8614116; generator 1

"""A row of bookings."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class Bookings(BaseModel):
    """
    A flight that is booked.

    Schema: schemas/entities/bookings.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_booking_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the booking."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the request for proposal behind it."""

    request_id: str | None = None
    """The request behind it."""

    quote_id: str | None = None
    """The quote that was accepted."""

    trip_id: str | None = None
    """The trip that it belongs to."""

    operator_profile_id: str | None = None
    """The operator who flies."""

    status: Literal["confirmed", "cancelled"] | None = None
    """Where the booking stands."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of departure."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When the flight departs."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """The type of the aircraft."""

    total_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in the booking's currency."""

    currency: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the booking's currency."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; null where the booking has another currency."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why the booking was cancelled."""

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
