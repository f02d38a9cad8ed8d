# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 933c3c812fc3a1a26cbfc594b5059599; generator 1

"""Show it.

Show what is generated.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    count: Annotated[int, Field(ge=1, le=19)] = 4
    """How many."""

    price: Annotated[int | float | None, Field(gt=0.0, le=1000.0)] = None
    """What it costs."""

    name: Annotated[str, Field(max_length=8, min_length=1, pattern="^[A-Z]+$")]
    """A name in capital letters."""

    tags: Annotated[list[str] | None, Field(max_length=3, min_length=1)] = None
    """Some tags."""

    position: tuple[int | float, int | float] | None = None
    """Latitude and longitude."""

    steps: Annotated[int | None, Field(multiple_of=5)] = None
    """A whole number of fives."""


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
