# Generated from schemas/events/endpoint.disabled.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1e5634065d58105fe9b7304dfdb6556b; generator 1

"""An endpoint was disabled: gateway.endpoint.disabled.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """Nothing is delivered any more to an endpoint that failed for long or wants nothing more."""

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoint_id: str
    """The endpoint's id."""

    reason: Literal["gone", "failing"]
    """`gone`: it answered 410. `failing`: it has failed for too long."""

    failing_since: str | None
    """Since when every delivery has failed; null where the last one before did not."""


class EndpointDisabledV1(BaseModel):
    """
    Nothing is delivered any more to an endpoint that failed for long or wants nothing more.

    Schema: schemas/events/endpoint.disabled.v1.json
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

    type: Literal["gateway.endpoint.disabled.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
