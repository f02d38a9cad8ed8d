# Generated from schemas/events/trip.created.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 280b88e25d015a25e2b2ba9eb8bc1121; generator 1

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
    """ICAO code of the departure airport."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time, in UTC."""

    return_at: str | None = None
    """Departure time of the return flight, in UTC."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """Link to the page for searching operators."""


class TripCreatedV1(BaseModel):
    """
    A trip was created on Avinode.

    Schema: schemas/events/trip.created.v1.json
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

    type: Literal["gateway.trip.created.v1"]
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
