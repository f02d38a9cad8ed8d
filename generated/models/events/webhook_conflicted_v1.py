# Generated from schemas/events/webhook.conflicted.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1e9069a4b5feed69ad40c98745c2ce56; generator 1

"""A message contradicts an earlier one: gateway.webhook.conflicted.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """
    An authentic message has the id of an earlier one and another body. Both are kept; only
    the first is processed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """Id, in the gateway, of the message that came later."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    event_type: Annotated[str, Field(max_length=200)]
    """The type that the message names; empty where it names none."""

    message_id: Annotated[str, Field(max_length=200)]
    """The sender's id of the message."""


class WebhookConflictedV1(BaseModel):
    """
    An authentic message has the id of an earlier one and another body. Both are kept; only
    the first is processed.

    Schema: schemas/events/webhook.conflicted.v1.json
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

    type: Literal["gateway.webhook.conflicted.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
