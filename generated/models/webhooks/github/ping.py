# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e5b846918fe9e867fc4ef4963c1c5b80; generator 1

"""The payload of ping from github."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Ping(BaseModel):
    """
    GitHub tries out a new webhook.

    Schema: schemas/webhooks/github/ping.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    zen: Annotated[str | None, Field(max_length=1000)] = None
    """A saying."""

    hook_id: Annotated[int, Field(ge=1)]
    """GitHub's id of the webhook."""
