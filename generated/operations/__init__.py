# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7659e48923d67bf547b1f02796a148a2; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import avinode, example, supabase

OPERATIONS: Final[tuple[Operation, ...]] = (
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *supabase.OPERATIONS,
)
