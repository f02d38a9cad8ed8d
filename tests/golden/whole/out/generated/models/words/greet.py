# Generated from schemas/tools/words/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1ce718fb0f92420b2037367c158054a0; generator 1

"""Greet someone.

Greet someone by name.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class GreetInput(BaseModel):
    """
    Whom to greet.

    Schema: schemas/tools/words/greet.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=100)]
    """Whom to greet."""


class GreetOutput(BaseModel):
    """
    The greeting.

    Schema: schemas/tools/words/greet.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    greeting: str
    """The greeting."""
