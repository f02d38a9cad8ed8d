# Generated from schemas/events/booking.updated.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cec5517d8d0c62b2f9cc8a9f9ba9f247; generator 1

"""A booking was changed: gateway.booking.updated.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Data(BaseModel):
    """
    The details of a booking have changed. Members that the message did not contain are
    absent.
    """

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
    """Name of the operator."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """Type of the aircraft."""

    departure_airport: IcaoAirport | None = None
    """ICAO code of the departure airport."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time, in UTC."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""

    total_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in the booking's currency."""

    currency: CurrencyCode | None = None
    """Currency of the booking."""

    total_price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; absent if the booking has another currency."""


class BookingUpdatedV1(BaseModel):
    """
    The details of a booking have changed. Members that the message did not contain are
    absent.

    Schema: schemas/events/booking.updated.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """Version of the CloudEvents specification."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """Id of the event, the same for each repeated delivery."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Source of the event, such as /webhooks/avinode."""

    type: Literal["gateway.booking.updated.v1"]
    """Type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """Subject of the event."""

    time: str
    """Time at which the event was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """Media type of `data`."""

    traceparent: Annotated[
        str | None, Field(max_length=55, pattern="^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
    ] = None
    """The trace in which the event came to be, as in W3C Trace Context."""

    data: Data
