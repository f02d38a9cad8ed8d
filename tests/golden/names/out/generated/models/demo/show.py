# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 53ac8a6da3a64b2b1dabb34a6e396056; generator 1

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
    from_: Annotated[str | None, Field(alias="from")] = None
    """A keyword."""

    class_: Annotated[str | None, Field(alias="class")] = None
    """A keyword."""

    schema_: Annotated[str | None, Field(alias="schema")] = None
    """A name that models use."""

    page_size: Annotated[int | None, Field(alias="page-size")] = None
    """No identifier."""


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
