# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The payload of leads from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Leads(BaseModel):
    """
    A visitor of this account's website has requested a flight.

    Schema: schemas/webhooks/avinode/leads.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the lead."""

    href: Annotated[str, Field(max_length=2048)]
    """URL to read it from."""

    type: Literal["leads"]
    """Type of the resource."""

    tripId: Annotated[str | None, Field(max_length=64)] = None
    """Code of the trip, as shown to people."""
