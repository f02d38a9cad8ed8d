# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1f213136f2755ae27f061a1ca6295d8b; generator 1

"""The payload of ping from standard."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Ping(BaseModel):
    """
    A sender tries out whether its messages arrive.

    Schema: schemas/webhooks/standard/ping.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["ping"]
    """What happened."""

    timestamp: str
    """When it happened."""
