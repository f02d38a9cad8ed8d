# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4bca050fc8a47042928cd11b2d6598c8; generator 1

"""Show it.

Show what is generated.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.places import IcaoAirport, Window


class Local(BaseModel):
    """A seat."""

    model_config = ConfigDict(
        extra="forbid",
    )
    row: int
    """Its row."""


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    airport: IcaoAirport
    """Where to."""

    via: Annotated[list[IcaoAirport] | None, Field(max_length=3)] = None
    """Stops on the way."""

    window: Window | None = None
    local: Local | None = None


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
