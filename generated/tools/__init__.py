# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4521a7ab48579e6141aa22af6f5483cd; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import avinode, example, golf, ntfy, weather

TOOLS: Final[tuple[Tool, ...]] = (
    *avinode.TOOLS,
    *example.TOOLS,
    *golf.TOOLS,
    *ntfy.TOOLS,
    *weather.TOOLS,
)
