# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 913b9a2eea323ed719450a3a932447d3; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import amadeus, avinode, example, frankfurter

TOOLS: Final[tuple[Tool, ...]] = (
    *amadeus.TOOLS,
    *avinode.TOOLS,
    *example.TOOLS,
    *frankfurter.TOOLS,
)
