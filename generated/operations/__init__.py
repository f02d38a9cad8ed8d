# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 90d9af5de9acef1595d371e7426aadf3; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import avinode, example, gmail

OPERATIONS: Final[tuple[Operation, ...]] = (
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *gmail.OPERATIONS,
)
