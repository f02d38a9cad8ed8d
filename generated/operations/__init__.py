# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4521a7ab48579e6141aa22af6f5483cd; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import avinode, example, golf, ntfy, weather

OPERATIONS: Final[tuple[Operation, ...]] = (
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *weather.OPERATIONS,
)
