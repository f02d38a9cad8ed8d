# Generated from schemas/tools/entities/requests.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 73abba653c17766d9c50e26cc69789ab; generator 1

"""Requests.

List the requests for proposal that Avinode's messages reported, the last changed first, page by
page.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class RequestsInput(BaseModel):
    """
    Which of the requests to list.

    Schema: schemas/tools/entities/requests.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only rows with this: Avinode's id of the request for proposal."""

    avinode_trip_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only rows with this: Avinode's id of the trip that it belongs to."""

    status: Literal["open", "cancelled", "booked"] | None = None
    """Only rows with this: where the request stands."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only rows with this: iCAO code of the airport of departure."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """Only rows with this: iCAO code of the airport of arrival."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """The most rows of one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Where the page begins: next_cursor of the page before, with the same filters."""


class Item(BaseModel):
    """A client's request for a flight, for which operators are asked for proposals."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_rfp_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the request for proposal."""

    avinode_trip_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the trip that it belongs to."""

    status: Literal["open", "booked", "reopened", "cancelled"] | None = None
    """
    Where the request stands. `reopened`: its booking was cancelled, and it looks for a flight
    again.
    """

    buyer_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the company that asks."""

    buyer_name: Annotated[str | None, Field(max_length=200)] = None
    """The name of the company that asks."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of departure."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the airport of arrival."""

    departure_at: str | None = None
    """When the flight is to depart."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """How many passengers fly."""

    quote_deadline_at: str | None = None
    """Until when operators may quote."""

    special_requirements: Annotated[str | None, Field(max_length=4000)] = None
    """Wishes in words."""

    iso_request_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """The client's request behind it, in the table iso_requests."""

    booking_id: str | None = None
    """The latest booking, or the one whose cancellation reopened the request."""

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


class RequestsOutput(BaseModel):
    """
    One page of the requests.

    Schema: schemas/tools/entities/requests.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, the last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Where the next page begins; null when there is none."""
