# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5b4bc3d69fdcb14515184091139982d2; generator 1

"""The payload of push from github."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Repository(BaseModel):
    """The repository that was pushed to."""

    model_config = ConfigDict(
        extra="allow",
    )
    full_name: Annotated[str, Field(max_length=200, min_length=1)]
    """Owner and name of the repository."""


class Pusher(BaseModel):
    """User who pushed."""

    model_config = ConfigDict(
        extra="allow",
    )
    name: Annotated[str, Field(max_length=100)]
    """Name."""


class Push(BaseModel):
    """
    Commits were pushed to a repository.

    Schema: schemas/webhooks/github/push.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    ref: Annotated[str, Field(max_length=300)]
    """The branch or tag."""

    after: Annotated[str, Field(max_length=64)]
    """The commit that the branch or tag now points to."""

    repository: Repository
    pusher: Pusher | None = None
