# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3a370c76f20d66420d55dd9dc08c9b3f; generator 1

"""The MCP tools of demo."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="demo.show",
        name="demo_show",
        bare_name="show",
        aliases=(
            "show",
            "display",
        ),
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
)
