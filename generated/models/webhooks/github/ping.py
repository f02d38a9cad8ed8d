# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5b4bc3d69fdcb14515184091139982d2; generator 1

"""The payload of ping from github."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Ping(BaseModel):
    """
    GitHub tests a new webhook.

    Schema: schemas/webhooks/github/ping.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    zen: Annotated[str | None, Field(max_length=1000)] = None
    """A random sentence from GitHub."""

    hook_id: Annotated[int, Field(ge=1)]
    """GitHub's id of the webhook."""
