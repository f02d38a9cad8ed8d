# Generated from schemas/events/webhook.dead_lettered.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6a43d7539b25838ad0a728eb916783a6; generator 1

"""A message could not be processed: gateway.webhook.dead_lettered.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """A message was tried as often as it may be, or failed for good, and waits for an operator."""

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """The message's id in the gateway."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    job_id: str
    """The job's id."""

    event_type: Annotated[str | None, Field(max_length=200)] = None
    """The type that the message names; empty where it names none."""

    message_id: Annotated[str | None, Field(max_length=200)] = None
    """The sender's id of the message."""

    attempts: Annotated[int, Field(ge=0)]
    """How often it was tried."""

    error: Annotated[str | None, Field(max_length=200)] = None
    """The class of the failure, such as upstream_unavailable; never a payload."""


class WebhookDeadLetteredV1(BaseModel):
    """
    A message was tried as often as it may be, or failed for good, and waits for an operator.

    Schema: schemas/events/webhook.dead_lettered.v1.json
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

    type: Literal["gateway.webhook.dead_lettered.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
