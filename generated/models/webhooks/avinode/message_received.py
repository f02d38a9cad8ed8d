# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c827c1c245af38f513da7d91214464a; generator 1

"""The payload of message_received from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Sender(BaseModel):
    """Who writes."""

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["operator", "buyer"]
    """Which side."""

    name: Annotated[str | None, Field(max_length=200)] = None
    """The name."""


class Operator(BaseModel):
    """The company that flies."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the company."""

    name: Annotated[str, Field(max_length=200)]
    """Its name."""

    rating: Annotated[int | float | None, Field(ge=0.0, le=5.0)] = None
    """Its rating by customers, from 0 to 5."""

    safety_rating: Annotated[str | None, Field(max_length=100)] = None
    """Its safety rating, such as ARGUS Gold."""

    email: Annotated[str | None, Field(max_length=320)] = None
    """Where it is written to."""

    phone: Annotated[str | None, Field(max_length=40)] = None
    """Where it is called."""


class MessageReceived(BaseModel):
    """
    The other side has written in a thread.

    Schema: schemas/webhooks/avinode/message_received.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["message_received"]
    """What happened."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message: the same when it is sent again."""

    timestamp: str
    """When it happened."""

    message_id: Identifier
    """Avinode's id of the message."""

    thread_id: Identifier
    """Avinode's id of the thread in which both sides write."""

    message: Annotated[str, Field(max_length=5000)]
    """What it says."""

    sender: Sender | None = None
    operator: Operator | None = None
    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    quote_id: Identifier | None = None
    """Avinode's id of the quote."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""
