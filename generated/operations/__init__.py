# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a3e6a36d681de943cce3b76ffeb159b8; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import (
    amadeus,
    avinode,
    entities,
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
    *entities.OPERATIONS,
    *example.OPERATIONS,
    *frankfurter.OPERATIONS,
    *gmail.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *sheets.OPERATIONS,
    *supabase.OPERATIONS,
    *weather.OPERATIONS,
)
