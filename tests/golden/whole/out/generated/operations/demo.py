# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5c9bd88061dc6cc2193cfe4c00d761c5; generator 1

"""The operations of demo."""

from typing import Final

from gateway.contract.operation import DeclaredError, Effect, Operation
from generated.bindings.demo import show

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="demo.show",
        connector="demo",
        title="Show entries",
        description="Show the entries of an account.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="no_such_account", status=404, title="There is no such account."),
        ),
        binding=show.BINDING,
        selects_fields=True,
        route="/v1/demo/show",
    ),
)
