# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c827c1c245af38f513da7d91214464a; generator 1

"""The payload of trip_updated from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IcaoAirport
from generated.models.common.identifiers import Identifier


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="allow",
    )
    departure_airport: IcaoAirport | None = None
    """ICAO code of the airport of departure."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When it departs."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""


class TripUpdated(BaseModel):
    """
    The details of a trip have changed.

    Schema: schemas/webhooks/avinode/trip_updated.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["trip_updated"]
    """What happened."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message: the same when it is sent again."""

    timestamp: str
    """When it happened."""

    trip_id: Identifier
    """Avinode's id of the trip."""

    flight: Flight | None = None
    return_at: str | None = None
    """When the flight back departs."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """The page on which operators are searched."""
