# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

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
    """ICAO code of the departure airport."""

    arrival_airport: IcaoAirport | None = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Departure time."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""


class TripUpdated(BaseModel):
    """
    The details of a trip have changed.

    Schema: schemas/webhooks/avinode/trip_updated.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["trip_updated"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    trip_id: Identifier
    """Avinode's id of the trip."""

    flight: Flight | None = None
    return_at: str | None = None
    """Departure time of the return flight."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """Link to the page for searching operators."""
