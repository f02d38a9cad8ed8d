# Generated from schemas/events/webhook.quarantined.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 28e52ba0a05820929b144f39f082777e; generator 1

"""A message breaks its contract: gateway.webhook.quarantined.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Refusal(BaseModel):
    """One violation."""

    model_config = ConfigDict(
        extra="forbid",
    )
    pointer: Annotated[str, Field(max_length=1000)]
    """JSON Pointer to the place in the message."""

    detail: Annotated[str, Field(max_length=1000)]
    """The error at this place."""


class Data(BaseModel):
    """
    An authentic message breaks its contract. It is kept until the contract is changed or an
    operator accepts it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """The gateway's id of the message."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    event_type: Annotated[str, Field(max_length=200)]
    """Type of the message; empty if it has none."""

    message_id: Annotated[str, Field(max_length=200)]
    """The provider's id of the message."""

    refusals: Annotated[list[Refusal], Field(max_length=20)]
    """The places where the message breaks its contract, without the values."""


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
    """Version of the CloudEvents specification."""

    id: Annotated[str, Field(max_length=64, min_length=1)]
    """Id of the event, the same for each repeated delivery."""

    source: Annotated[str, Field(max_length=200, min_length=1)]
    """Source of the event, such as /webhooks/avinode."""

    type: Literal["gateway.webhook.quarantined.v1"]
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
