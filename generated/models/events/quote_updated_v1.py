# Generated from schemas/events/quote.updated.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 70886bbb5986cd5dd0b937dc79db9b12; generator 1

"""A quote was changed: gateway.quote.updated.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.money import CurrencyCode


class Data(BaseModel):
    """An operator has changed a quote; members that the message did not name are missing."""

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

    operator_id: Identifier | None = None
    """Avinode's id of the operator."""

    operator_name: Annotated[str | None, Field(max_length=200)] = None
    """The operator's name."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """The type of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in the quote's currency."""

    currency: CurrencyCode | None = None
    """The quote's currency."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; missing where the quote has another currency."""

    valid_until: str | None = None
    """When the quote lapses, in UTC."""


class QuoteUpdatedV1(BaseModel):
    """
    An operator has changed a quote; members that the message did not name are missing.

    Schema: schemas/events/quote.updated.v1.json
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

    type: Literal["gateway.quote.updated.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
