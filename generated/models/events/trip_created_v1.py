# Generated from schemas/events/trip.created.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e0781239073d0c9b55f21da0239f9f85; generator 1

"""A trip was created: gateway.trip.created.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A trip was created on Avinode."""

    model_config = ConfigDict(
        extra="forbid",
    )
    trip_id: Identifier
    """Avinode's id of the trip."""

    row_id: str
    """Id of the row under /v1/entities/trips."""

    departure_airport: IcaoAirport | None = None
    """Where the flight departs."""

    arrival_airport: IcaoAirport | None = None
    """Where it arrives."""

    departure_at: str | None = None
    """When it departs, in UTC."""

    return_at: str | None = None
    """When the flight back departs, in UTC."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """The page on which operators are searched."""


class TripCreatedV1(BaseModel):
    """
    A trip was created on Avinode.

    Schema: schemas/events/trip.created.v1.json
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

    type: Literal["gateway.trip.created.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
