# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d77fd9c2a2925538cef1185e1864fc2f; generator 1

"""Show it.

Show what is generated.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Range(BaseModel):
    """When."""

    model_config = ConfigDict(
        extra="forbid",
    )
    first: str | None = None
    """First day."""


class ShowInputRange(BaseModel):
    """What it may cost."""

    model_config = ConfigDict(
        extra="forbid",
    )
    lowest: int | float | None = None
    """The lowest price."""


class Leg(BaseModel):
    """One leg."""

    model_config = ConfigDict(
        extra="forbid",
    )
    to: str
    """Where to."""


class ShowOutputLeg(BaseModel):
    """One leg, as made."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Its id."""


class ShowOutput(BaseModel):
    """
    What comes back.

    Schema: schemas/tools/demo/show.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    legs: Annotated[list[ShowOutputLeg], Field(max_length=5)]
    """The legs that were made."""


class Flight(BaseModel):
    """The flight."""

    model_config = ConfigDict(
        extra="forbid",
    )
    from_: Annotated[str, Field(alias="from")]
    """Where from."""

    range: Range | None = None


class ShowInput(BaseModel):
    """
    What to show.

    Schema: schemas/tools/demo/show.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    flight: Flight
    range: ShowInputRange | None = None
    legs: Annotated[list[Leg] | None, Field(max_length=5)] = None
    """The legs."""

    labels: dict[str, str] | None = None
    """Labels by name."""
