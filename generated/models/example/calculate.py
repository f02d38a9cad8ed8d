# Generated from schemas/tools/example/calculate.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c9e4ce33cfe1fa78e3f5c2b2925438ff; generator 1

"""Calculate.

Add, subtract, multiply or divide two numbers.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class CalculateInput(BaseModel):
    """
    Two numbers and what to do with them.

    Schema: schemas/tools/example/calculate.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    operation: Literal["add", "subtract", "multiply", "divide"]
    """What to do with the numbers."""

    a: Annotated[int | float, Field(ge=-1e100, le=1e100)]
    """The first number."""

    b: Annotated[int | float, Field(ge=-1e100, le=1e100)]
    """The second number."""


class CalculateOutput(BaseModel):
    """
    The result of the calculation.

    Schema: schemas/tools/example/calculate.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    result: int | float
    """The result, as a double-precision number."""
