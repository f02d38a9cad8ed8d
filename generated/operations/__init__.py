# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1079dc668bbb70dd94c00768399fe48b; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import avinode, example, sheets

OPERATIONS: Final[tuple[Operation, ...]] = (
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *sheets.OPERATIONS,
)
