# Generated from schemas/tools/words/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 105039fc9da05020b5076a2d90ffaede; generator 1

"""The MCP tools of words."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="words.greet",
        name="words_greet",
        bare_name="greet",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
)
