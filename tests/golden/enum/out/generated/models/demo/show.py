# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0cf3c108895dc47feabcc9fc24ae4050; generator 1

"""Show it.

Show what is generated.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Literal["small", "large", "extra-large"]
    """How large."""

    level: int | None = None
    """One of some numbers."""

    kind: Literal["plain"] | None = None
    """Always the same."""

    sizes: Annotated[list[Literal["small", "large"]] | None, Field(max_length=3)] = None
    """Several sizes."""

    ratio: int | float | None = None
    """One of some fractions."""


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
