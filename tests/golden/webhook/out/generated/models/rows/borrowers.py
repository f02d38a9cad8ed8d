# Generated from schemas/entities/borrowers.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e67c3b06fd642a92e2744176af29be17; generator 1

"""A row of borrowers."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Borrowers(BaseModel):
    """
    Somebody with a card.

    Schema: schemas/entities/borrowers.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id."""

    card: Annotated[str, Field(max_length=20, min_length=1)]
    """The number of the card."""

    name: Annotated[str | None, Field(max_length=50)] = None
    """The borrower's name."""

    webhook_id: str
    """The webhook that wrote the row last."""

    occurred_at: str
    """When the latest change happened."""

    created_at: str
    """When the row was made."""

    updated_at: str
    """When the row was written last."""
