# Generated from schemas/tools/avinode/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0f37b8ee7838a058f7c0fdf8e55684dd; generator 1

"""The MCP tools of avinode."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="avinode.create_rfp",
        name="avinode_create_rfp",
        bare_name="create_rfp",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="avinode.create_trip",
        name="avinode_create_trip",
        bare_name="create_trip",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="avinode.create_watch",
        name="avinode_create_watch",
        bare_name="create_watch",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="avinode.get_quote_status",
        name="avinode_get_quote_status",
        bare_name="get_quote_status",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="avinode.get_quotes",
        name="avinode_get_quotes",
        bare_name="get_quotes",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="avinode.get_rfp_status",
        name="avinode_get_rfp_status",
        bare_name="get_rfp_status",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="avinode.search_airports",
        name="avinode_search_airports",
        bare_name="search_airports",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="avinode.search_empty_legs",
        name="avinode_search_empty_legs",
        bare_name="search_empty_legs",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="avinode.search_flights",
        name="avinode_search_flights",
        bare_name="search_flights",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="avinode.send_message",
        name="avinode_send_message",
        bare_name="send_message",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
)
