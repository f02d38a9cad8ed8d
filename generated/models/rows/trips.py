# Generated from schemas/entities/trips.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a5a8340fbc9c73290f0978a7800aa3fa; generator 1

"""A row of trips."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class Trips(BaseModel):
    """
    A trip in Avinode, for which a client searches aircraft.

    Schema: schemas/entities/trips.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_trip_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the trip."""

    status: Literal["active", "cancelled"] | None = None
    """Status of the trip."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the departure airport."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Planned departure time of the first flight."""

    return_at: str | None = None
    """Planned departure time of the return flight."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """Link to the page for searching operators."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Reason for the cancellation."""

    state_log: Annotated[list[StateReport] | None, Field(max_length=100)] = None
    """
    The states that messages reported, in the order in which they happened. If `applied` is
    false, the state was not a valid next state, and the row was not changed.
    """

    webhook_id: str
    """Id of the message, or of the call, that last wrote the row."""

    occurred_at: str
    """When the last change in the row happened."""

    created_at: str
    """When the gateway first wrote the row."""

    updated_at: str
    """When the gateway last wrote the row."""
