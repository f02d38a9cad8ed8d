# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5b4bc3d69fdcb14515184091139982d2; generator 1

"""The payload of deployment_status from github."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Deployment(BaseModel):
    """The deployment."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Annotated[int, Field(ge=1)]
    """GitHub's id of the deployment."""

    environment: Annotated[str, Field(max_length=200)]
    """Target environment."""


class DeploymentStatusDeploymentStatus(BaseModel):
    """Status of the deployment."""

    model_config = ConfigDict(
        extra="allow",
    )
    state: Annotated[str, Field(max_length=40)]
    """The state, such as success or failure."""


class Repository(BaseModel):
    """The repository."""

    model_config = ConfigDict(
        extra="allow",
    )
    full_name: Annotated[str, Field(max_length=200, min_length=1)]
    """Owner and name of the repository."""


class DeploymentStatus(BaseModel):
    """
    A deployment has a new state.

    Schema: schemas/webhooks/github/deployment_status.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    deployment: Deployment
    deployment_status: DeploymentStatusDeploymentStatus
    repository: Repository
