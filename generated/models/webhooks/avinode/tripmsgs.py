# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c827c1c245af38f513da7d91214464a; generator 1

"""The payload of tripmsgs from avinode."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Tripmsgs(BaseModel):
    """
    Somebody has written in a thread.

    Schema: schemas/webhooks/avinode/tripmsgs.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Avinode's id of the message."""

    href: Annotated[str, Field(max_length=2048)]
    """Where it is read."""

    type: Literal["tripmsgs"]
    """What it is."""

    tripId: Annotated[str | None, Field(max_length=64)] = None
    """The trip by the code that people use."""
