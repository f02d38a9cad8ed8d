# Generated from schemas/events/deployment.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 062d04984a42b2115172bbbb2422a54b; generator 1

"""A deployment has changed: gateway.deployment.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """A deployment of a repository has a new state."""

    model_config = ConfigDict(
        extra="forbid",
    )
    repository: Annotated[str, Field(max_length=200)]
    """Owner and name of the repository."""

    deployment_id: Annotated[int, Field(ge=1)]
    """GitHub's id of the deployment."""

    environment: Annotated[str, Field(max_length=200)]
    """Target environment."""

    state: Annotated[str, Field(max_length=40)]
    """State of the deployment, such as success or failure."""


class DeploymentChangedV1(BaseModel):
    """
    A deployment of a repository has a new state.

    Schema: schemas/events/deployment.changed.v1.json
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

    type: Literal["gateway.deployment.changed.v1"]
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
