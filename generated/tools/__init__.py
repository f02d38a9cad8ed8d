# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1079dc668bbb70dd94c00768399fe48b; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import avinode, example, sheets

TOOLS: Final[tuple[Tool, ...]] = (
    *avinode.TOOLS,
    *example.TOOLS,
    *sheets.TOOLS,
)
