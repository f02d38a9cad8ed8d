# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 58ab72675edc7db452cce7fc8ef9b3fc; generator 1

"""Show it.

Show what is generated.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Place(BaseModel):
    """Where, or null for nowhere."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """Its name."""


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    note: Annotated[str | None, Field(max_length=20)] = None
    """A note, or null for none."""

    place: Place | None = None
    """Where, or null for nowhere."""

    answer: Literal["yes", "no"] | None = None
    """Yes, no or null."""

    required_note: str | None
    """A note that must be there, if only as null."""


class ShowOutput(BaseModel):
    """
    What comes back.

    Schema: schemas/tools/demo/show.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    done: bool
    """Whether it is done."""
