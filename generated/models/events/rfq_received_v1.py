# Generated from schemas/events/rfq.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dd2306800ec83d1c78532c463825a489; generator 1

"""A request for proposal was received: gateway.rfq.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A buyer asks this account, as an operator, for a proposal."""

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Avinode's id of the request for proposal."""

    row_id: str
    """Id of the row under /v1/entities/requests."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""

    buyer_name: Annotated[str | None, Field(max_length=200)] = None
    """The name of the company that asks."""

    departure_airport: IcaoAirport | None = None
    """Where the flight departs."""

    arrival_airport: IcaoAirport | None = None
    """Where it arrives."""

    departure_at: str | None = None
    """When it departs, in UTC."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""


class RfqReceivedV1(BaseModel):
    """
    A buyer asks this account, as an operator, for a proposal.

    Schema: schemas/events/rfq.received.v1.json
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

    type: Literal["gateway.rfq.received.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
