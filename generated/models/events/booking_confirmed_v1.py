# Generated from schemas/events/booking.confirmed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6dd8977e921fd6d117c96c72dde0d98b; generator 1

"""A booking was confirmed: gateway.booking.confirmed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Data(BaseModel):
    """A flight is booked."""

    model_config = ConfigDict(
        extra="forbid",
    )
    booking_id: Identifier
    """Avinode's id of the booking."""

    row_id: str
    """Id of the row under /v1/entities/bookings."""

    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    quote_id: Identifier | None = None
    """Avinode's id of the quote."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    operator_name: Annotated[str | None, Field(max_length=200)] = None
    """The operator's name."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """The type of the aircraft."""

    departure_airport: IcaoAirport | None = None
    """Where the flight departs."""

    arrival_airport: IcaoAirport | None = None
    """Where it arrives."""

    departure_at: str | None = None
    """When it departs, in UTC."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""

    total_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in the booking's currency."""

    currency: CurrencyCode | None = None
    """The booking's currency."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; missing where the booking has another currency."""


class BookingConfirmedV1(BaseModel):
    """
    A flight is booked.

    Schema: schemas/events/booking.confirmed.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """The version of CloudEvents."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """The event's id: the same whenever it is delivered again."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Where it comes from, such as /webhooks/avinode."""

    type: Literal["gateway.booking.confirmed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
