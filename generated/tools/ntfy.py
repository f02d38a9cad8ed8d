# Generated from schemas/tools/ntfy/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0800c3062183c28d9cf7d69a29f9fb99; generator 1

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
