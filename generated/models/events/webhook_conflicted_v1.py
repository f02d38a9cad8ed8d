# Generated from schemas/events/webhook.conflicted.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 352f65c9f6ce115e00e9768db8e6694e; generator 1

"""A message conflicts with an earlier one: gateway.webhook.conflicted.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """
    An authentic message has the id of an earlier message but a different body. Both are kept;
    only the first is processed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """The gateway's id of the later message."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    event_type: Annotated[str, Field(max_length=200)]
    """Type of the message; empty if it has none."""

    message_id: Annotated[str, Field(max_length=200)]
    """The provider's id of the message."""


class WebhookConflictedV1(BaseModel):
    """
    An authentic message has the id of an earlier message but a different body. Both are kept;
    only the first is processed.

    Schema: schemas/events/webhook.conflicted.v1.json
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

    type: Literal["gateway.webhook.conflicted.v1"]
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
