# Generated from schemas/events/webhook.quarantined.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2bbfa3d9688fea18e34e0da35dd979a3; generator 1

"""A message does not fit its contract: gateway.webhook.quarantined.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Refusal(BaseModel):
    """One place."""

    model_config = ConfigDict(
        extra="forbid",
    )
    pointer: Annotated[str, Field(max_length=1000)]
    """JSON Pointer into the message."""

    detail: Annotated[str, Field(max_length=1000)]
    """What is wrong there."""


class Data(BaseModel):
    """
    An authentic message breaks its contract. It is kept until the contract is changed or an
    operator accepts it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """The message's id in the gateway."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    event_type: Annotated[str, Field(max_length=200)]
    """The type that the message names; empty where it names none."""

    message_id: Annotated[str, Field(max_length=200)]
    """The sender's id of the message."""

    refusals: Annotated[list[Refusal], Field(max_length=20)]
    """Where the message does not fit, never what it says there."""


class WebhookQuarantinedV1(BaseModel):
    """
    An authentic message breaks its contract. It is kept until the contract is changed or an
    operator accepts it.

    Schema: schemas/events/webhook.quarantined.v1.json
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

    type: Literal["gateway.webhook.quarantined.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
