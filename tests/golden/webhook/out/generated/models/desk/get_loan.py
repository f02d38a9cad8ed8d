# Generated from schemas/entities/loans.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 03778370d4635c9eebcc2ef501d24fc8; generator 1

"""Get loan.

Get the row of loans with this loan_number. A book that somebody has.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class GetLoanInput(BaseModel):
    """
    The key of the row.

    Schema: schemas/entities/loans.json#/x-entity/tools/get
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    loan_number: Annotated[str, Field(max_length=20, min_length=1)]
    """The desk's number of the loan."""


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


class GetLoanOutput(BaseModel):
    """
    The row.

    Schema: schemas/entities/loans.json#/x-entity/tools/get
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    item: Item
