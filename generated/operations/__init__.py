# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9401591d3b46054c48b6514d07079806; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import (
    amadeus,
    avinode,
    example,
    frankfurter,
    golf,
    ntfy,
    sheets,
    supabase,
    weather,
)

OPERATIONS: Final[tuple[Operation, ...]] = (
    *amadeus.OPERATIONS,
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *frankfurter.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *sheets.OPERATIONS,
    *supabase.OPERATIONS,
    *weather.OPERATIONS,
)
