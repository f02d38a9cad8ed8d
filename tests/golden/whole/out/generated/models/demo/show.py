# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e2b771154110186cd7517299e42a6dad; generator 1

"""Show entries.

Show the entries of an account.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ShowInput(BaseModel):
    """
    Whose entries.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    account: Annotated[str, Field(min_length=1, pattern="^[A-Z0-9-]+$")]
    """The account."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10
    """How many at most."""


class Entry(BaseModel):
    """One entry."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Its id."""

    amount: int | float
    """The amount."""

    note: str | None = None
    """What was noted."""


class ShowOutput(BaseModel):
    """
    The entries of the account.

    Schema: schemas/tools/demo/show.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    entries: Annotated[list[Entry], Field(max_length=50)]
    """The entries."""

    total: Annotated[int, Field(ge=0)]
    """How many there are."""
