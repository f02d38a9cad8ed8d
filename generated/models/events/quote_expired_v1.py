# Generated from schemas/events/quote.expired.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f152cf434972887d38a11e5d379b5b89; generator 1

"""A quote has lapsed: gateway.quote.expired.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A quote has lapsed without an answer."""

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


class QuoteExpiredV1(BaseModel):
    """
    A quote has lapsed without an answer.

    Schema: schemas/events/quote.expired.v1.json
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

    type: Literal["gateway.quote.expired.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
