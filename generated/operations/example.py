# Generated from schemas/tools/example/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6ceb10cd31c154734f4011cc8782b3d; generator 1

"""The operations of example."""

from typing import Final

from gateway.contract.operation import DeclaredError, Effect, Operation
from generated.bindings.example import calculate, greet

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="example.calculate",
        connector="example",
        title="Calculate",
        description="Add, subtract, multiply or divide two numbers.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="division_by_zero", status=422, title="A number cannot be divided by zero."
            ),
            DeclaredError(
                reason="out_of_range",
                status=422,
                title="The result is too large for a double-precision number.",
            ),
        ),
        binding=calculate.BINDING,
        selects_fields=True,
        route="/v1/example/calculate",
    ),
    Operation(
        id="example.greet",
        connector="example",
        title="Greet someone",
        description="Greet someone by name.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=greet.BINDING,
        selects_fields=True,
        route="/v1/example/greet",
    ),
)
