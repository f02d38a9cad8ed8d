# Generated from schemas/events/message.received.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f3cc215428a55ec9f282a415a9e581b1; generator 1

"""A message was received: gateway.message.received.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """The other side has written in a thread."""

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
    """Who writes."""

    sender_name: Annotated[str | None, Field(max_length=200)] = None
    """The sender's name."""

    message: Annotated[str, Field(max_length=5000)]
    """What was written."""


class MessageReceivedV1(BaseModel):
    """
    The other side has written in a thread.

    Schema: schemas/events/message.received.v1.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    specversion: Literal["1.0"]
    """The version of CloudEvents."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """The event's id: the same whenever it is delivered again."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Where it comes from, such as /webhooks/avinode."""

    type: Literal["gateway.message.received.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
