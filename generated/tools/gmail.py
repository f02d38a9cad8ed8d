# Generated from schemas/tools/gmail/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 917f83b8b39bfe9180f4da1147fa0da6; generator 1

"""The MCP tools of gmail."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="gmail.create_draft",
        name="gmail_create_draft",
        bare_name="create_draft",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="gmail.get_email",
        name="gmail_get_email",
        bare_name="get_email",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="gmail.get_thread_history",
        name="gmail_get_thread_history",
        bare_name="get_thread_history",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="gmail.send_email",
        name="gmail_send_email",
        bare_name="send_email",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="gmail.send_template_email",
        name="gmail_send_template_email",
        bare_name="send_template_email",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
)
