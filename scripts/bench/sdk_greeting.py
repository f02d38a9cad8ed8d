"""One Python tool on the MCP SDK's low-level server, in its fastest configuration.

It does not validate: the low-level server checks neither arguments nor results.
"""

import argparse
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from serving import serve
from starlette.applications import Starlette
from starlette.routing import Route

NAME: Final = "example_greet"
_SCHEMA: Final = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}


async def _list(_context: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name=NAME, input_schema=_SCHEMA)])


async def _call(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    found = {"greeting": f"Hello, {(params.arguments or {})['name']}!"}
    text = TextContent(type="text", text=json.dumps(found))
    return CallToolResult(content=[text], structured_content=found)


def main() -> None:
    """Serve the tool at `/mcp`."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    logging.disable(logging.INFO)
    server: Server[Any] = Server(
        "bench",
        on_list_tools=_list,
        on_call_tool=_call,
        # Without it, each call of the revision 2026-07-28 lists all tools first.
        get_tool_input_schema=lambda _: None,
    )
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    serve(Starlette(routes=[Route("/mcp", manager.asgi_app)], lifespan=running))


if __name__ == "__main__":
    main()
