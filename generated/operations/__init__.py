# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 22888153f6f6914a132fb2221770bf9c; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import amadeus, avinode, example, frankfurter, golf, ntfy, weather

OPERATIONS: Final[tuple[Operation, ...]] = (
    *amadeus.OPERATIONS,
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *frankfurter.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *weather.OPERATIONS,
)
