# Generated from schemas/entities/requests.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d452fa0caaa10250cfa7f2f636a070c8; generator 1

"""A row of requests."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.states import StateReport


class Requests(BaseModel):
    """
    A client's request for a flight, which is sent to operators as a request for proposal.

    Schema: schemas/entities/requests.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_rfp_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the request for proposal."""

    avinode_trip_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the trip."""

    status: Literal["open", "booked", "reopened", "cancelled"] | None = None
    """
    Status of the request. `reopened`: its booking was cancelled, and a flight is needed
    again.
    """

    buyer_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the buyer."""

    buyer_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the buyer."""

    departure_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the departure airport."""

    arrival_airport: Annotated[str | None, Field(max_length=4, pattern="^[A-Z]{4}$")] = None
    """ICAO code of the arrival airport."""

    departure_at: str | None = None
    """Planned departure time."""

    passengers: Annotated[int | None, Field(ge=1, le=1000)] = None
    """Number of passengers."""

    quote_deadline_at: str | None = None
    """Deadline for quotes."""

    special_requirements: Annotated[str | None, Field(max_length=4000)] = None
    """Special requirements, as text."""

    iso_request_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Id of the client's request in the table iso_requests."""

    booking_id: str | None = None
    """
    Id of the row in bookings: the latest booking, or the one whose cancellation reopened the
    request.
    """

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
