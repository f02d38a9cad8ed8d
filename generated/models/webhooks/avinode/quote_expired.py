# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of quote_expired from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class QuoteExpired(BaseModel):
    """
    A quote has expired without a response.

    Schema: schemas/webhooks/avinode/quote_expired.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    event_type: Literal["quote_expired"]
    """Type of the event."""

    event_id: Annotated[
        str, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9][A-Za-z0-9._:-]*$")
    ]
    """Avinode's id of this message, the same if it is sent again."""

    timestamp: str
    """Time of the event."""

    quote_id: Identifier
    """Avinode's id of the quote."""

    rfp_id: Identifier | None = None
    """Avinode's id of the request for proposal."""

    trip_id: Identifier | None = None
    """Avinode's id of the trip."""
