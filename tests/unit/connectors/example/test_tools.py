"""The tools of the connector `example`."""

import pytest

from gateway.connectors.example.tools import calculate, greet
from gateway.errors import ToolFailed
from generated.models.example.calculate import CalculateInput
from generated.models.example.greet import GreetInput


async def test_greet_greets_by_name():
    assert (await greet(GreetInput(name="Alice"))).greeting == "Hello, Alice!"


@pytest.mark.parametrize(
    ("operation", "a", "b", "result"),
    [("add", 5, 3, 8), ("subtract", 5, 8, -3), ("multiply", 2.5, 4, 10), ("divide", 1, 8, 0.125)],
)
async def test_calculate_calculates(operation, a, b, result):
    assert (await calculate(CalculateInput(operation=operation, a=a, b=b))).result == result


@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
async def test_division_by_zero_is_a_declared_error(zero):
    with pytest.raises(ToolFailed) as caught:
        await calculate(CalculateInput(operation="divide", a=1, b=zero))
    assert caught.value.reason == "division_by_zero"


async def test_a_result_beyond_double_precision_is_a_declared_error():
    """JSON has no infinity, so the result must not become one."""
    with pytest.raises(ToolFailed) as caught:
        await calculate(CalculateInput(operation="divide", a=1e100, b=5e-324))
    assert caught.value.reason == "out_of_range"


async def test_the_largest_product_of_the_contract_is_a_number():
    answer = await calculate(CalculateInput(operation="multiply", a=1e100, b=-1e100))
    assert answer.result == pytest.approx(-1e200)
