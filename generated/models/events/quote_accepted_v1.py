# Generated from schemas/events/quote.accepted.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b1c9c5e5b6485c7b8f0e20609679147f; generator 1

"""A quote was accepted: gateway.quote.accepted.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Data(BaseModel):
    """The buyer has accepted a quote."""

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

    operator_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the operator."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """Type of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in the quote's currency."""

    currency: CurrencyCode | None = None
    """Currency of the quote."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; absent if the quote has another currency."""


class QuoteAcceptedV1(BaseModel):
    """
    The buyer has accepted a quote.

    Schema: schemas/events/quote.accepted.v1.json
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

    type: Literal["gateway.quote.accepted.v1"]
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
