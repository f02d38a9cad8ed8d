# Generated from schemas/events/quote.rejected.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e4c3abe242692906a41fe637bd21e911; generator 1

"""A quote was rejected: gateway.quote.rejected.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """The buyer has rejected a quote."""

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

    reason: Annotated[str | None, Field(max_length=2000)] = None
    """The reason, as text."""


class QuoteRejectedV1(BaseModel):
    """
    The buyer has rejected a quote.

    Schema: schemas/events/quote.rejected.v1.json
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

    type: Literal["gateway.quote.rejected.v1"]
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
