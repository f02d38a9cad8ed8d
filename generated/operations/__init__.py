# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7683fece1e1346bb88c61a01efb388c4; generator 1

"""The operations of every connector."""

from typing import Final

from gateway.contract.operation import Operation
from generated.operations import amadeus, avinode, example, frankfurter, golf, ntfy, sheets, weather

OPERATIONS: Final[tuple[Operation, ...]] = (
    *amadeus.OPERATIONS,
    *avinode.OPERATIONS,
    *example.OPERATIONS,
    *frankfurter.OPERATIONS,
    *golf.OPERATIONS,
    *ntfy.OPERATIONS,
    *sheets.OPERATIONS,
    *weather.OPERATIONS,
)
