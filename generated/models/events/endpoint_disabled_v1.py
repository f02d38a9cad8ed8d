# Generated from schemas/events/endpoint.disabled.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c19f48f3c0815ef05c87682005146ebf; generator 1

"""An endpoint was disabled: gateway.endpoint.disabled.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """An endpoint receives no more events, because it failed for too long or answered 410."""

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoint_id: str
    """Id of the endpoint."""

    reason: Literal["gone", "failing"]
    """`gone`: it answered 410. `failing`: it has failed for too long."""

    failing_since: str | None
    """
    Start of the period in which every delivery failed; null if the previous delivery
    succeeded.
    """


class EndpointDisabledV1(BaseModel):
    """
    An endpoint receives no more events, because it failed for too long or answered 410.

    Schema: schemas/events/endpoint.disabled.v1.json
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

    type: Literal["gateway.endpoint.disabled.v1"]
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
