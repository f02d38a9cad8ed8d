# Generated from schemas/tools/example/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6ceb10cd31c154734f4011cc8782b3d; generator 1

"""The MCP tools of example."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="example.calculate",
        name="example_calculate",
        bare_name="calculate",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="example.greet",
        name="example_greet",
        bare_name="greet",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
)
