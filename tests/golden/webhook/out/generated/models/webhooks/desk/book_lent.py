# Generated from schemas/webhooks/desk/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 87c26614582b50de981ca29a52a24792; generator 1

"""The payload of book_lent from desk."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.library import Isbn


class Card(BaseModel):
    model_config = ConfigDict(
        extra="allow",
    )
    number: Annotated[str, Field(max_length=20, min_length=1)]
    name: Annotated[str | None, Field(max_length=50, min_length=1)] = None


class BookLent(BaseModel):
    """
    Somebody has taken a book home.

    Schema: schemas/webhooks/desk/book_lent.payload.json
    """

    model_config = ConfigDict(
        extra="allow",
    )
    kind: Literal["book_lent"]
    message: Annotated[str, Field(max_length=64, min_length=1)]
    at: str
    loan: Annotated[str, Field(max_length=20, min_length=1)]
    isbn: Isbn | None = None
    card: Card
