# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of message_received from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Sender(BaseModel):
    """The sender."""

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["operator", "buyer"]
    """Kind of the sender."""

    name: Annotated[str | None, Field(max_length=200)] = None
    """Name."""


class Operator(BaseModel):
    """The company that operates the aircraft."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the company."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Customer rating, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Safety rating, such as ARGUS Gold."""

    email: Annotated[str | None, Field(max_length=320)] = None
    """Email address."""

    phone: Annotated[str | None, Field(max_length=40)] = None
    """Telephone number."""


class MessageReceived(BaseModel):
    """
    The other party has written in a thread.

    Schema: schemas/webhooks/avinode/message_received.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["message_received"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    message_id: Identifier
    """Avinode's id of the message."""

    thread_id: Identifier
    """Avinode's id of the thread."""

    message: Annotated[str, Field(max_length=5000)]
    """Text of the message."""

    sender: Sender | None = None
    operator: Operator | None = None
    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    quote_id: Identifier | None = None
    """Avinode's id of the quote."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""
