# Generated from schemas/tools/words/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 793d63c3adca3f388c07762546dbcb10; generator 1

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
