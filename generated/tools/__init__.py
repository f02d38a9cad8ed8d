# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3a8e601ef4fe73649e6e4c36237ceba5; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import avinode, example

TOOLS: Final[tuple[Tool, ...]] = (
    *avinode.TOOLS,
    *example.TOOLS,
)
