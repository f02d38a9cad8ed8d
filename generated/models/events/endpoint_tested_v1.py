# Generated from schemas/events/endpoint.tested.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1273327afad38dbbbabaa0b663495f6f; generator 1

"""An endpoint is tried out: gateway.endpoint.tested.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """
    An operator tries out an endpoint. This event goes to that endpoint only and is not in the
    log.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoint_id: str
    """The endpoint's id."""


class EndpointTestedV1(BaseModel):
    """
    An operator tries out an endpoint. This event goes to that endpoint only and is not in the
    log.

    Schema: schemas/events/endpoint.tested.v1.json
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

    type: Literal["gateway.endpoint.tested.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
