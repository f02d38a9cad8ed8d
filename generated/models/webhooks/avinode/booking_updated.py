# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of booking_updated from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Operator(BaseModel):
    """The company that operates the aircraft."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the company."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Customer rating, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Safety rating, such as ARGUS Gold."""

    email: Annotated[str | None, Field(max_length=320)] = None
    """Email address."""

    phone: Annotated[str | None, Field(max_length=40)] = None
    """Telephone number."""


class Aircraft(BaseModel):
    """The aircraft."""

    model_config = ConfigDict(
        extra="allow",
    )
    type: Annotated[str, Field(max_length=100)]
    """Type of the aircraft, such as Citation X."""

    id: Identifier | None = None
    """Avinode's id of the aircraft."""


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="allow",
    )
    departure_airport: IcaoAirport | None = None
    """ICAO code of the departure airport."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""


class Price(BaseModel):
    """The price."""

    model_config = ConfigDict(
        extra="allow",
    )
    total: Annotated[int | float, Field(ge=0.0, le=1000000000.0)]
    """Total."""

    currency: CurrencyCode | None = None
    """ISO 4217 code of the currency; if absent, the currency does not change."""

    base: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Amount before taxes and fees."""

    taxes_fees: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Taxes and fees."""


class BookingUpdated(BaseModel):
    """
    The details of a booking have changed.

    Schema: schemas/webhooks/avinode/booking_updated.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["booking_updated"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    booking_id: Identifier
    """Avinode's id of the booking."""

    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    quote_id: Identifier | None = None
    """Avinode's id of the quote."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    operator: Operator | None = None
    aircraft: Aircraft | None = None
    flight: Flight | None = None
    price: Price | None = None
