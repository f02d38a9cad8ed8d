# Generated from schemas/entities/loans.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 03778370d4635c9eebcc2ef501d24fc8; generator 1

"""List loans.

List the loans, last changed first, in pages. A book that somebody has.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ListLoansInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/loans.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    isbn: Annotated[str | None, Field(max_length=13)] = None
    """Only loans with this isbn. The book."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """A book that somebody has."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id."""

    loan_number: Annotated[str, Field(max_length=20, min_length=1)]
    """The desk's number of the loan."""

    isbn: Annotated[str | None, Field(max_length=13)] = None
    """The book."""

    borrower_id: str | None = None
    """Who has it."""

    lent_on: str | None = None
    """The day on which it went out."""

    webhook_id: str
    """The webhook that wrote the row last."""

    occurred_at: str
    """When the latest change happened."""

    created_at: str
    """When the row was made."""

    updated_at: str
    """When the row was written last."""


class ListLoansOutput(BaseModel):
    """
    One page of the loans.

    Schema: schemas/entities/loans.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
