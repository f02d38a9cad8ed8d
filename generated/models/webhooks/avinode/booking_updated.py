# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c827c1c245af38f513da7d91214464a; generator 1

"""The payload of booking_updated from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Operator(BaseModel):
    """The company that flies."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Its name."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Its rating by customers, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Its safety rating, such as ARGUS Gold."""

    email: Annotated[str | None, Field(max_length=320)] = None
    """Where it is written to."""

    phone: Annotated[str | None, Field(max_length=40)] = None
    """Where it is called."""


class Aircraft(BaseModel):
    """The aircraft."""

    model_config = ConfigDict(
        extra="allow",
    )
    type: Annotated[str, Field(max_length=100)]
    """Its type, such as Citation X."""

    id: Identifier | None = None
    """Avinode's id of it."""


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="allow",
    )
    departure_airport: IcaoAirport | None = None
    """ICAO code of the airport of departure."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When it departs."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""


class Price(BaseModel):
    """What it costs."""

    model_config = ConfigDict(
        extra="allow",
    )
    total: Annotated[int | float, Field(ge=0.0, le=1000000000.0)]
    """With everything."""

    currency: CurrencyCode | None = None
    """ISO 4217 code of the currency; where it is missing, the one that is known already."""

    base: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Before taxes and fees."""

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
    """What happened."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message: the same when it is sent again."""

    timestamp: str
    """When it happened."""

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
