# Generated from schemas/events/webhook.dead_lettered.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2330e787cc2c09281940d075628835fc; generator 1

"""A message could not be processed: gateway.webhook.dead_lettered.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """A message has used all its attempts or failed permanently, and needs an operator."""

    model_config = ConfigDict(
        extra="forbid",
    )
    webhook_id: str
    """The gateway's id of the message."""

    provider: Annotated[str, Field(max_length=64)]
    """The provider, such as avinode."""

    job_id: str
    """Id of the job."""

    event_type: Annotated[str | None, Field(max_length=200)] = None
    """Type of the message; empty if it has none."""

    message_id: Annotated[str | None, Field(max_length=200)] = None
    """The provider's id of the message."""

    attempts: Annotated[int, Field(ge=0)]
    """Number of attempts."""

    error: Annotated[str | None, Field(max_length=200)] = None
    """Class of the failure, such as upstream_unavailable, without the payload."""


class WebhookDeadLetteredV1(BaseModel):
    """
    A message has used all its attempts or failed permanently, and needs an operator.

    Schema: schemas/events/webhook.dead_lettered.v1.json
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

    type: Literal["gateway.webhook.dead_lettered.v1"]
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
