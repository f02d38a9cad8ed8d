# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 36c2d3541bac8c3a747a048b897768d3; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import (
    amadeus,
    avinode,
    example,
    frankfurter,
    gmail,
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
    *gmail.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *sheets.OPERATIONS,
    *supabase.OPERATIONS,
    *weather.OPERATIONS,
)
