# Generated from schemas/tools/frankfurter/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7d31fdaa32a911a2499d82f2141610b6; generator 1

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
