# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 343dceaf76d0d87d7012ce681b153761; generator 1

"""The payload of record_changed from standard."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class Data(BaseModel):
    """The record."""

    model_config = ConfigDict(
        extra="allow",
    )
    id: Identifier
    """Its id."""

    kind: Annotated[str, Field(max_length=64)]
    """What kind of record it is."""

    change: Literal["created", "updated", "deleted"]
    """What happened to it."""


class RecordChanged(BaseModel):
    """
    A record of the sender's has changed.

    Schema: schemas/webhooks/standard/record_changed.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["record_changed"]
    """What happened."""

    timestamp: str
    """When it happened."""

    data: Data
