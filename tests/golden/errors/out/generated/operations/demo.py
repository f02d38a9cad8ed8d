# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9e0195f6bf4c8eefc79d6619e338fe1; generator 1

"""The operations of demo."""

from typing import Final

from gateway.contract.operation import DeclaredError, Effect, Operation
from generated.bindings.demo import show

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="demo.show",
        connector="demo",
        title="Show it",
        description="Show what is generated.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="too_dull", status=422, title="The text is too dull to be shown."),
            DeclaredError(reason="no_screen", status=409, title="There is no screen."),
        ),
        binding=show.BINDING,
        sensitive=(
            "/secret",
            "/people/*/phone",
        ),
        route="/v1/demo/show",
    ),
)
