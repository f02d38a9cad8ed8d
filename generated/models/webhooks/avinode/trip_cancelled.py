# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of trip_cancelled from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class TripCancelled(BaseModel):
    """
    A trip was cancelled.

    Schema: schemas/webhooks/avinode/trip_cancelled.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["trip_cancelled"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    trip_id: Identifier
    """Avinode's id of the trip."""

    reason: Annotated[str | None, Field(max_length=2000)] = None
    """The reason, as text."""
