# Generated from schemas/events/endpoint.tested.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6136d660c4148fd53b7794d381b281d8; generator 1

"""An endpoint is tested: gateway.endpoint.tested.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """
    An operator tests an endpoint. This event is sent only to that endpoint and is not in the
    log.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoint_id: str
    """Id of the endpoint."""


class EndpointTestedV1(BaseModel):
    """
    An operator tests an endpoint. This event is sent only to that endpoint and is not in the
    log.

    Schema: schemas/events/endpoint.tested.v1.json
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

    type: Literal["gateway.endpoint.tested.v1"]
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
