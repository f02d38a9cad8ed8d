"""A stdio server in front of a gateway elsewhere, for hosts that can only start a program."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    SERVER_INFO_META_KEY,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.transports.mcp.server import SERVER_NAME, Context
from gateway.transports.stdio import run_on_stdio

_T = TypeVar("_T")
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_STAMP: Final = SERVER_INFO_META_KEY
_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
_REASONS: Final = {
    401: "it refused the key (401). Set GATEWAY_KEY to a key that is not revoked",
    421: "it is not known by this name (421). Add the name to its setting allowed_hosts",
    429: "it is busy (429). Try again later",
}


class RemoteGateway:
    """A gateway elsewhere. Each request connects anew, so a restart there is no matter here."""

    def __init__(self, url: str, key: str | None) -> None:
        self._url = url
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._mode = "auto"

    async def list_tools(self, cursor: str | None) -> ListToolsResult:
        """The remote's tools. Raises `MCPError`, the remote's or one that says what is wrong."""
        return await self._ask(lambda client: client.list_tools(cursor=cursor))

    async def call_tool(self, params: CallToolRequestParams) -> CallToolResult:
        """The remote's answer to a call. Raises `MCPError`, as `list_tools` does."""
        # Not `client.call_tool`: it lists all tools first, to check what the remote has checked.
        request = CallToolRequest(
            params=CallToolRequestParams(name=params.name, arguments=params.arguments)
        )
        result = await self._ask(
            lambda client: client.session.send_request(request, CallToolResult)
        )
        # Which server answers, and whether the host's era names it, is for this server to say.
        meta = {name: value for name, value in (result.meta or {}).items() if name != _STAMP}
        return result.model_copy(update={"meta": meta or None})

    async def _ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        last_refusal = _LastRefusal()
        try:
            async with self._connected(last_refusal) as client:
                return await question(client)
        except Exception as error:
            # The next request finds out anew which era the remote speaks.
            self._mode = "auto"
            raise _explained(error, last_refusal.reason, self._url) from error

    @asynccontextmanager
    async def _connected(self, last_refusal: "_LastRefusal") -> AsyncIterator[Client]:
        async with (
            httpx2.AsyncClient(
                headers=self._headers,
                timeout=_TIMEOUT,
                event_hooks={"response": [last_refusal.note]},
            ) as http,
            Client(
                streamable_http_client(self._url, http_client=http), mode=self._mode, cache=None
            ) as client,
        ):
            is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
            self._mode = client.protocol_version if is_modern else "legacy"
            yield client


async def serve_bridge(url: str, key: str | None, version: str, *, max_message_bytes: int) -> None:
    """Serve the tools of the gateway at `url` on stdio, until the host closes standard input."""
    await run_on_stdio(build_bridge(RemoteGateway(url, key), version), max_message_bytes)


def build_bridge(remote: RemoteGateway, version: str) -> Server[Any]:
    """An MCP server that passes lists and calls on to `remote`, as they are."""

    async def list_tools(_: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        return await remote.list_tools(params.cursor if params else None)

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        return await remote.call_tool(params)

    return Server(
        SERVER_NAME,
        version=version,
        title="Contract gateway (bridge)",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _LastRefusal:
    """Why the last answer of the remote is none in the protocol, where the SDK does not tell."""

    def __init__(self) -> None:
        self.reason: str | None = None

    async def note(self, response: httpx2.Response) -> None:
        """Look at an answer before the SDK does."""
        if response.request.method == "POST":
            self.reason = await _refusal(response)


async def _refusal(response: httpx2.Response) -> str | None:
    status = response.status_code
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if status in _REASONS:
        return _REASONS[status]
    if status == httpx2.codes.ACCEPTED or (status < 400 and kind == _EVENTS):
        return None
    if kind == _JSON and b'"jsonrpc"' in await response.aread():
        return None
    what = f"it answered {status} {kind or 'without a content type'}"
    if response.is_redirect:
        return f"{what}, a redirect. Use the address that it leads to"
    if response.is_server_error:
        return f"{what}. Try again later, or see its log"
    return f"{what}, so there is no MCP endpoint there. The URL should end in /mcp"


def _explained(error: Exception, refusal: str | None, url: str) -> MCPError:
    """What went wrong, in words for the person in front of the host."""
    cause = next(_causes(error))
    if isinstance(cause, httpx2.TransportError | OSError):
        return _failed(url, f"it cannot be reached ({type(cause).__name__})")
    if refusal is not None:
        return _failed(url, refusal)
    if isinstance(cause, MCPError):
        return cause
    return _failed(url, f"{type(cause).__name__}: {cause}")


def _failed(url: str, reason: str) -> MCPError:
    return MCPError(INTERNAL_ERROR, f"The gateway at {url} did not serve this: {reason}.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors inside (nested) groups, in order."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    else:
        yield error
