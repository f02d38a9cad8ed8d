# Generated from schemas/tools/example/calculate.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6c850ffff17a53d5a86dfc91fd87e6b8; generator 1

"""Calculate.

Add, subtract, multiply or divide two numbers.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class CalculateInput(BaseModel):
    """
    Two numbers and the operation.

    Schema: schemas/tools/example/calculate.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    operation: Literal["add", "subtract", "multiply", "divide"]
    """The operation."""

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
