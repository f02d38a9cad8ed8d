# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 913b9a2eea323ed719450a3a932447d3; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import amadeus, avinode, example, frankfurter

OPERATIONS: Final[tuple[Operation, ...]] = (
    *amadeus.OPERATIONS,
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *frankfurter.OPERATIONS,
)
