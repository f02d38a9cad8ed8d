# Generated from schemas/events/message.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0757709cf12e81adb566fe4a46b58d91; generator 1

"""A message was received: gateway.message.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """The other party has written in a thread."""

    model_config = ConfigDict(
        extra="forbid",
    )
    message_id: Identifier
    """Avinode's id of the message."""

    row_id: str
    """Id of the row under /v1/entities/messages."""

    thread_id: Identifier
    """Avinode's id of the thread."""

    conversation_id: str
    """Id of the row under /v1/entities/conversations."""

    sender_type: Literal["operator", "buyer"] | None = None
    """Kind of the sender."""

    sender_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the sender."""

    message: Annotated[str, Field(max_length=5000)]
    """Text of the message."""


class MessageReceivedV1(BaseModel):
    """
    The other party has written in a thread.

    Schema: schemas/events/message.received.v1.json
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

    type: Literal["gateway.message.received.v1"]
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
