# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 316687743dbb2465b83127f71d09cb86; generator 1

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
    """Id of the record."""

    kind: Annotated[str, Field(max_length=64)]
    """Kind of the record."""

    change: Literal["created", "updated", "deleted"]
    """Kind of the change."""


class RecordChanged(BaseModel):
    """
    A record of the sender has changed.

    Schema: schemas/webhooks/standard/record_changed.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["record_changed"]
    """Type of the event."""

    timestamp: str
    """Time of the event."""

    data: Data
