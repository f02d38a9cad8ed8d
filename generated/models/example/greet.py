# Generated from schemas/tools/example/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3a3936f8cf2b4034fc927aaacefa7072; generator 1

"""Greet someone.

Greet someone by name.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class GreetInput(BaseModel):
    """
    Whom to greet.

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
