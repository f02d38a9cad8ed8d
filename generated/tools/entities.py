# Generated from schemas/tools/entities/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 32f10ca981143f1f75608a4174f01ace; generator 1

"""The MCP tools of entities."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="entities.bookings",
        name="entities_bookings",
        bare_name="bookings",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.conversations",
        name="entities_conversations",
        bare_name="conversations",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.messages",
        name="entities_messages",
        bare_name="messages",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.operator_profiles",
        name="entities_operator_profiles",
        bare_name="operator_profiles",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.quotes",
        name="entities_quotes",
        bare_name="quotes",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.requests",
        name="entities_requests",
        bare_name="requests",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
    Tool(
        operation="entities.trips",
        name="entities_trips",
        bare_name="trips",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
)
