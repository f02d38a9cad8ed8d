# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7683fece1e1346bb88c61a01efb388c4; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import amadeus, avinode, example, frankfurter, golf, ntfy, sheets, weather

TOOLS: Final[tuple[Tool, ...]] = (
    *amadeus.TOOLS,
    *avinode.TOOLS,
    *example.TOOLS,
    *frankfurter.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *sheets.TOOLS,
    *weather.TOOLS,
)
