# Generated from schemas/events/booking.cancelled.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a0b52032923de77603cdaa698ba1b0ba; generator 1

"""A booking was cancelled: gateway.booking.cancelled.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A booking was cancelled."""

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

    reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why, in words."""


class BookingCancelledV1(BaseModel):
    """
    A booking was cancelled.

    Schema: schemas/events/booking.cancelled.v1.json
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

    type: Literal["gateway.booking.cancelled.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
