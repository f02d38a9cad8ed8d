# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 22888153f6f6914a132fb2221770bf9c; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import amadeus, avinode, example, frankfurter, golf, ntfy, weather

TOOLS: Final[tuple[Tool, ...]] = (
    *amadeus.TOOLS,
    *avinode.TOOLS,
    *example.TOOLS,
    *frankfurter.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *weather.TOOLS,
)
