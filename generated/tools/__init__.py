# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 90d9af5de9acef1595d371e7426aadf3; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import avinode, example, gmail

TOOLS: Final[tuple[Tool, ...]] = (
    *avinode.TOOLS,
    *example.TOOLS,
    *gmail.TOOLS,
)
