# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5c9bd88061dc6cc2193cfe4c00d761c5; generator 1

"""The MCP tools of demo."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="demo.show",
        name="demo_show",
        bare_name="show",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
)
