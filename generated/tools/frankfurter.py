# Generated from schemas/tools/frankfurter/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5ba87e73b91a7c30feb277350430391d; generator 1

"""The MCP tools of frankfurter."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="frankfurter.convert_currency",
        name="frankfurter_convert_currency",
        bare_name="convert_currency",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
