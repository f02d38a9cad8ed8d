"""The MCP SDK's server over our tools: every part of the protocol that is not hot."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from gateway.calls.call import Result
from gateway.contract import jsontext
from gateway.transports.mcp.results import (
    LIST_CACHE,
    failure,
    is_unknown_tool,
    listing,
    success,
    unknown_tool,
)
from gateway.transports.mcp.tools import NO_ARGUMENTS, Caller, Tools

SERVER_NAME = "contract-gateway"
Context: TypeAlias = ServerRequestContext[Any, Any]
CallerOf: TypeAlias = Callable[[Context], Awaitable[Caller]]
"""How a transport knows who sent a message."""


def _arguments(ctx: Context, params: CallToolRequestParams) -> bytes:
    """The arguments as JSON text. `null` is no object, and not the same as leaving them out."""
    if params.arguments is None and "arguments" in (ctx.params or {}):
        raise MCPError(INVALID_PARAMS, "Invalid params: arguments must be an object")
    return jsontext.encode(params.arguments) if params.arguments else NO_ARGUMENTS


def _no_header_parameters(_: str) -> None:
    """No input schema declares any; without this answer the SDK lists all tools before a call."""


def build_server(tools: Tools, caller_of: CallerOf, version: str) -> Server[Any]:
    """A low-level server that lists and calls `tools`, and has neither resources nor prompts."""

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "Unknown cursor: all tools are on one page")
        caller = await caller_of(ctx)
        return listing(tools.visible(caller), caller.connector)

    async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
        outcome = await tools.call(await caller_of(ctx), params.name, _arguments(ctx, params))
        if isinstance(outcome, Result):
            return success(outcome)
        if is_unknown_tool(outcome):
            raise MCPError.from_error_data(unknown_tool(params.name, outcome))
        return failure(outcome)

    return Server(
        SERVER_NAME,
        version=version,
        title="Contract gateway",
        cache_hints={"tools/list": LIST_CACHE, "server/discover": LIST_CACHE},
        get_tool_input_schema=_no_header_parameters,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
