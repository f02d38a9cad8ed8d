# Generated from schemas/tools/golf/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 546f590d1eb24ec471eaeb06a1516a49; generator 1

"""The MCP tools of golf."""

from typing import Final

from gateway.contract.operation import Tool

TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        operation="golf.book_tee_time",
        name="golf_book_tee_time",
        bare_name="book_tee_time",
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=True,
    ),
    Tool(
        operation="golf.get_reservations",
        name="golf_get_reservations",
        bare_name="get_reservations",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
    Tool(
        operation="golf.search_tee_times",
        name="golf_search_tee_times",
        bare_name="search_tee_times",
        read_only=False,
        destructive=False,
        idempotent=True,
        open_world=True,
    ),
)
