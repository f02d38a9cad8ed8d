# Generated from schemas/tools/frankfurter/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0d3487c9ef6ffbfbfb5e98c158b1f099; generator 1

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
