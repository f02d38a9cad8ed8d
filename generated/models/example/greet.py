# Generated from schemas/tools/example/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fc1d48da2cec609c313d7475b00ac2b3; generator 1

"""Greet someone.

Greet someone by name.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class GreetInput(BaseModel):
    """
    The person to greet.

    Schema: schemas/tools/example/greet.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=100, min_length=1)]
    """The name to greet."""


class GreetOutput(BaseModel):
    """
    The greeting.

    Schema: schemas/tools/example/greet.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    greeting: Annotated[str, Field(max_length=200)]
    """The greeting."""
