# Generated from schemas/events/deployment.changed.v1.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3efbbccdc37031af70f34161beffc867; generator 1

"""A deployment has changed: gateway.deployment.changed.v1."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Data(BaseModel):
    """A deployment of a repository has reached another state."""

    model_config = ConfigDict(
        extra="forbid",
    )
    repository: Annotated[str, Field(max_length=200)]
    """Owner and name of the repository."""

    deployment_id: Annotated[int, Field(ge=1)]
    """GitHub's id of the deployment."""

    environment: Annotated[str, Field(max_length=200)]
    """Where it is deployed."""

    state: Annotated[str, Field(max_length=40)]
    """The state, such as success or failure."""


class DeploymentChangedV1(BaseModel):
    """
    A deployment of a repository has reached another state.

    Schema: schemas/events/deployment.changed.v1.json
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

    type: Literal["gateway.deployment.changed.v1"]
    """The type of the event."""

    subject: Annotated[str, Field(max_length=200, min_length=1)]
    """What it is about."""

    time: str
    """When it was recorded, RFC 3339 in UTC."""

    datacontenttype: Literal["application/json"]
    """The form of `data`."""

    data: Data
