"""The tools of the connector `example`: Python functions without an upstream."""

import operator
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final

from gateway.contract.connector import tool_handler
from gateway.errors import ToolFailed
from generated.models.example.calculate import CalculateInput, CalculateOutput
from generated.models.example.greet import GreetInput, GreetOutput

_OPERATIONS: Final[Mapping[str, Callable[[float, float], float]]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


@tool_handler
async def greet(arguments: GreetInput) -> GreetOutput:
    """A greeting for the name."""
    return GreetOutput(greeting=f"Hello, {arguments.name}!")


@tool_handler
async def calculate(arguments: CalculateInput) -> CalculateOutput:
    """The result in double precision (IEEE 754).

    Fails with `division_by_zero`, and with `out_of_range` for a result that JSON cannot represent.
    """
    if arguments.operation == "divide" and arguments.b == 0:
        raise ToolFailed("division_by_zero")
    result = _OPERATIONS[arguments.operation](float(arguments.a), float(arguments.b))
    if not isfinite(result):
        raise ToolFailed("out_of_range")
    return CalculateOutput(result=result)
