# Generated from schemas/tools/amadeus/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 72703cbc31367159aa153e0f9771fde8; generator 1

"""The MCP tools of amadeus."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="amadeus.get_airport_code",
        name="amadeus_get_airport_code",
        bare_name="get_airport_code",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="amadeus.search_flights",
        name="amadeus_search_flights",
        bare_name="search_flights",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="amadeus.search_hotels",
        name="amadeus_search_hotels",
        bare_name="search_hotels",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
