# Generated from schemas/tools/ntfy/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 67d3245a59901063ff8b7dce7d8b9e71; generator 1

"""The MCP tools of ntfy."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="ntfy.send_push_notification",
        name="ntfy_send_push_notification",
        bare_name="send_push_notification",
        aliases=("send_push_notification",),
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
)
