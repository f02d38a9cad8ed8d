# Generated from schemas/entities/trips.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 567c347b29f72e07105c9010d7de7886; generator 1

"""Trips.

List the trips that Avinode's messages reported, last changed first, in pages.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class TripsInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/trips.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_trip_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only the trip with this Avinode id."""

    status: Literal["active", "cancelled"] | None = None
    """Only trips with this status."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only trips with this departure airport (ICAO code)."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only trips with this arrival airport (ICAO code)."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """A trip in Avinode, for which a client searches aircraft."""

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


class TripsOutput(BaseModel):
    """
    One page of the trips.

    Schema: schemas/entities/trips.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
