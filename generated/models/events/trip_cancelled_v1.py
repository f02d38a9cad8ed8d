# Generated from schemas/events/trip.cancelled.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9b02614a9c4fa161c4da2c7d3d8f5a03; generator 1

"""A trip was cancelled: gateway.trip.cancelled.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """A trip was cancelled on Avinode."""

    model_config = ConfigDict(
        extra="forbid",
    )
    trip_id: Identifier
    """Avinode's id of the trip."""

    row_id: str
    """Id of the row under /v1/entities/trips."""

    reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why, in words."""


class TripCancelledV1(BaseModel):
    """
    A trip was cancelled on Avinode.

    Schema: schemas/events/trip.cancelled.v1.json
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

    type: Literal["gateway.trip.cancelled.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
