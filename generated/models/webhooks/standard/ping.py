# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 316687743dbb2465b83127f71d09cb86; generator 1

"""The payload of ping from standard."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Ping(BaseModel):
    """
    A sender tests whether its messages arrive.

    Schema: schemas/webhooks/standard/ping.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["ping"]
    """Type of the event."""

    timestamp: str
    """Time of the event."""
