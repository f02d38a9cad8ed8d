# Generated from schemas/tools/entities/trips.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a80305ea0c100475f4d1857e41be8cde; generator 1

"""Trips.

List the trips that Avinode's messages reported, the last changed first, page by page.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class TripsInput(BaseModel):
    """
    Which of the trips to list.

    Schema: schemas/tools/entities/trips.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_trip_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only rows with this: Avinode's id of the trip."""

    status: Literal["active", "cancelled"] | None = None
    """Only rows with this: where the trip stands."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only rows with this: iCAO code of the airport of departure."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only rows with this: iCAO code of the airport of arrival."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """The most rows of one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Where the page begins: next_cursor of the page before, with the same filters."""


class Item(BaseModel):
    """A journey as Avinode keeps it: what a client searches aircraft for."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_trip_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the trip."""

    status: Literal["active", "cancelled"] | None = None
    """Where the trip stands."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of departure."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When the first flight is to depart."""

    return_at: str | None = None
    """When the flight back is to depart."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""

    deep_link: Annotated[str | None, Field(max_length=2048)] = None
    """The page on which operators are searched."""

    cancellation_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why the trip was cancelled."""

    state_log: Annotated[list[StateReport] | None, Field(max_length=100)] = None
    """
    The states that messages have reported, in the order in which they happened. Where
    `applied` is false the state could not follow, and the row stayed as it was.
    """

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When the latest change in the row happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""


class TripsOutput(BaseModel):
    """
    One page of the trips.

    Schema: schemas/tools/entities/trips.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, the last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Where the next page begins; null when there is none."""
