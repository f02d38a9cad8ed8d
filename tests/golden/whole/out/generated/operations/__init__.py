# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cc9e583e918adf804b7b5513d0ff840f; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import demo, words

OPERATIONS: Final[tuple[Operation, ...]] = (
    *demo.OPERATIONS,
    *words.OPERATIONS,
)
