"""The answers to MCP clients, as types of the SDK and as bytes. Both have the same meaning."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    SERVER_INFO_META_KEY,
    CallToolResult,
    ErrorData,
    ListToolsResult,
    TextContent,
    Tool,
)
from mcp_types.methods import serialize_server_result
from mcp_types.version import LATEST_MODERN_VERSION

from gateway.calls.call import Result
from gateway.contract.values import jsontext
from gateway.contract.values.hidden import visible_text
from gateway.errors import UnknownOperation
from gateway.publication.listed import published
from gateway.publication.own_tools import Listable
from gateway.publication.view import ToolView
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.transports.http.problems import Problem
from gateway.transports.mcp.protocol import Freshness
from gateway.transports.mcp.tools import tool_name

HTTP_STATUSES: Final[Mapping[int, int]] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
}
"""The code of each error that the gateway itself reports, to its HTTP status."""
LIST_CACHE: Final = Freshness(ttl_ms=60_000, scope="private")
"""A list depends on the key, and changes only when the gateway is deployed again."""
CANCELLED: Final = ErrorData(code=-32800, message="Request cancelled")
"""The error with which the SDK answers a request that its client has cancelled."""
PROBLEM_META: Final = "contract-gateway/problem"
_MAX_NAME: Final = 128
_UNKNOWN: Final = PROBLEMS[UnknownOperation].code


def success(result: Result) -> CallToolResult:
    """A result, as structured content and as the JSON text that REST answers with."""
    return CallToolResult(
        content=[TextContent(text=result.text.decode())], structured_content=result.values
    )


def failure(problem: Problem) -> CallToolResult:
    """A failed call: the problem+json as text for the model, and as an object in `_meta`."""
    return CallToolResult(
        content=[TextContent(text=jsontext.encode(problem).decode())],
        is_error=True,
        _meta={PROBLEM_META: msgspec.to_builtins(problem)},
    )


def is_unknown_tool(problem: Problem) -> bool:
    """Whether the call failed because the tool does not exist. This is a protocol error."""
    return problem.code == _UNKNOWN


def unknown_tool(name: str, problem: Problem) -> ErrorData:
    """The protocol error for a tool that does not exist, or that this caller may not call."""
    return ErrorData(
        code=INVALID_PARAMS,
        message=f"Unknown tool: {visible_text(name[:_MAX_NAME])[0]}",
        data=msgspec.to_builtins(problem),
    )


def listing(tools: Iterable[Listable], connector: str | None, view: ToolView) -> ListToolsResult:
    """The tools as `tools/list` shows them in `view`, on the endpoint of `connector`."""
    return ListToolsResult(tools=[_tool(each, connector, view) for each in tools])


def _tool(listable: Listable, connector: str | None, view: ToolView) -> Tool:
    declared = msgspec.to_builtins(published(listable.listing, view))
    return Tool.model_validate({**declared, "name": tool_name(listable, connector)})


class ResultBytes:
    """The same results as JSON-RPC text for the fast path, encoded without the SDK."""

    def __init__(self, server_info: dict[str, Any]) -> None:
        self._server_info = jsontext.encode(server_info)
        self._stamp = b'"%s":%s' % (SERVER_INFO_META_KEY.encode(), self._server_info)

    def success(self, result: Result, *, is_modern: bool) -> bytes:
        """The `result` member for a result."""
        text = jsontext.encode(result.text.decode())
        return b"".join(
            (
                b'{"content":[{"type":"text","text":',
                text,
                b'}],"structuredContent":',
                result.text,
                b',"isError":false',
                b',"resultType":"complete","_meta":{%s}}' % self._stamp if is_modern else b"}",
            )
        )

    def failure(self, problem: Problem, *, is_modern: bool) -> bytes:
        """The `result` member for a failed call."""
        problem_json = jsontext.encode(problem)
        return b"".join(
            (
                b'{"content":[{"type":"text","text":',
                jsontext.encode(problem_json.decode()),
                b'}],"isError":true,"_meta":{"%s":' % PROBLEM_META.encode(),
                problem_json,
                b',%s},"resultType":"complete"}' % self._stamp if is_modern else b"}}",
            )
        )

    def listing(
        self, tools: Iterable[Listable], connector: str | None, version: str, view: ToolView
    ) -> bytes:
        """The `result` member for a list of tools in the protocol `version`."""
        hints = {"ttlMs": LIST_CACHE.ttl_ms, "cacheScope": LIST_CACHE.scope}
        dumped = listing(tools, connector, view).model_dump(
            by_alias=True, mode="json", exclude_none=True
        )
        shaped = serialize_server_result("tools/list", version, {**dumped, **hints})
        if version == LATEST_MODERN_VERSION:
            shaped["_meta"] = {SERVER_INFO_META_KEY: msgspec.Raw(self._server_info)}
        return jsontext.encode(shaped)


def response(message_id: int | str, result: bytes) -> bytes:
    """A JSON-RPC response with the encoded `result`."""
    return b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (jsontext.encode(message_id), result)


def error_response(message_id: int | str | None, error: ErrorData) -> bytes:
    """A JSON-RPC error response."""
    return b'{"jsonrpc":"2.0","id":%s,"error":%s}' % (
        jsontext.encode(message_id),
        error.model_dump_json(by_alias=True, exclude_none=True).encode(),
    )
