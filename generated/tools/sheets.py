# Generated from schemas/tools/sheets/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a38553259115084cf38c8a989f789f1b; generator 1

"""The MCP tools of sheets."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="sheets.add_flight_history",
        name="sheets_add_flight_history",
        bare_name="add_flight_history",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="sheets.get_client",
        name="sheets_get_client",
        bare_name="get_client",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.get_client_details",
        name="sheets_get_client_details",
        bare_name="get_client_details",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.list_clients",
        name="sheets_list_clients",
        bare_name="list_clients",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.read_sheet",
        name="sheets_read_sheet",
        bare_name="read_sheet",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.search_client",
        name="sheets_search_client",
        bare_name="search_client",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.search_clients",
        name="sheets_search_clients",
        bare_name="search_clients",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="sheets.update_client",
        name="sheets_update_client",
        bare_name="update_client",
        read_only=False,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
