# Generated from schemas/webhooks/desk/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 87c26614582b50de981ca29a52a24792; generator 1

"""The payload of shelf.changed from desk."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class ShelfChanged(BaseModel):
    """
    Something on a shelf is new.

    Schema: schemas/webhooks/desk/shelf_changed.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    type: Literal["shelf.changed"]
    shelf: Annotated[str, Field(max_length=32)]
    link: str | None = None
