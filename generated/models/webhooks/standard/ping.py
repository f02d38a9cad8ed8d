# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 343dceaf76d0d87d7012ce681b153761; generator 1

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
