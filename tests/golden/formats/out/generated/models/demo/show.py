# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f4dfaf577fd532e48fbc3888be2b582a; generator 1

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
    day: str
    """A day."""

    moment: str | None = None
    """A moment."""

    id: str | None = None
    """An id."""

    link: Annotated[str | None, Field(max_length=200)] = None
    """A link."""

    mail: str | None = None
    """An address."""


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
