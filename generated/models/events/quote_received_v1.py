# Generated from schemas/events/quote.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f55eb84a81725ae274cf2274a8e86685; generator 1

"""A quote was received: gateway.quote.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Data(BaseModel):
    """An operator has sent a quote for a request for proposal."""

    model_config = ConfigDict(
        extra="forbid",
    )
    quote_id: Identifier
    """Avinode's id of the quote."""

    row_id: str
    """Id of the row under /v1/entities/quotes."""

    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    thread_id: Identifier
    """Avinode's id of the thread, or of the quote if Avinode names no thread."""

    operator_id: Identifier
    """Avinode's id of the operator."""

    operator_name: Annotated[str, Field(max_length=200)]
    """Name of the operator."""

    aircraft_type: Annotated[str, Field(max_length=100)]
    """Type of the offered aircraft."""

    price: Annotated[int | float, Field(ge=0.0, le=1000000000.0)]
    """Total price, in the quote's currency."""

    currency: CurrencyCode
    """Currency of the quote."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; absent if the quote has another currency."""

    valid_until: str | None = None
    """Time at which the quote expires, in UTC."""


class QuoteReceivedV1(BaseModel):
    """
    An operator has sent a quote for a request for proposal.

    Schema: schemas/events/quote.received.v1.json
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

    type: Literal["gateway.quote.received.v1"]
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
