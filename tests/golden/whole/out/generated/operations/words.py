# Generated from schemas/tools/words/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 105039fc9da05020b5076a2d90ffaede; generator 1

"""The operations of words."""

from typing import Final

from gateway.contract.operation import Effect, Operation
from generated.bindings.words import greet

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="words.greet",
        connector="words",
        title="Greet someone",
        description="Greet someone by name.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=greet.BINDING,
        selects_fields=True,
        route="/v1/words/greet",
    ),
)
