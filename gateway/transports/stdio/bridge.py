"""A stdio server as a bridge to a remote gateway, for hosts that can only start a program."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import httpx2
from anyio import fail_after
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    SERVER_INFO_META_KEY,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from gateway.contract.operation import Requirement
from gateway.contract.servers.description import ServerDescription
from gateway.transports.http.bounds import META_PREFIX
from gateway.transports.mcp.outgoing.honest import HonestServer
from gateway.transports.mcp.protocol import NOTHING
from gateway.transports.mcp.revisions import ProtocolRevision, revision_of
from gateway.transports.mcp.server import asks_progress
from gateway.transports.mcp.task_methods import Context
from gateway.transports.stdio.asking import asks_of
from gateway.transports.stdio.bridged import add_offered
from gateway.transports.stdio.conversing import conversed
from gateway.transports.stdio.header_parameters import HeaderParameters
from gateway.transports.stdio.refusals import LAST_REFUSAL, LastRefusal, note_refusal
from gateway.transports.stdio.server import run_on_stdio

_T = TypeVar("_T")
Asks: TypeAlias = frozenset[Requirement]
_ANSWERS: Final[TypeAdapter[CallToolResult | InputRequiredResult]] = TypeAdapter(
    InputRequiredResult | CallToolResult
)
_CALLBACKS: Final = {
    "elicitation": "elicitation_callback",
    "sampling": "sampling_callback",
    "roots": "list_roots_callback",
}
"""What declares to the SDK's client what it can be asked."""
_PASSED_ON: Final = ("name", "arguments", "input_responses", "request_state")
_STAMP: Final = SERVER_INFO_META_KEY
_CONNECT_SECONDS: Final = 30.0
ANSWER_SECONDS: Final = 300.0
"""How long the remote may take to answer. The host's configuration can set another time."""
_LIMITS: Final = httpx2.Limits(
    # The remote has its own limit of calls, and reports an error when it is reached.
    max_connections=None,
    # The remote closes connections that are idle for five seconds. Do not reuse one that it may be
    # closing.
    keepalive_expiry=2.0,
)


class RemoteGateway:
    """A remote gateway. Enter it with `async with`.

    One HTTP client with one TLS context serves all requests. Each request opens its own session of
    the protocol, so the remote may restart between two requests.
    """

    def __init__(self, url: str, key: str | None, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._url = url
        self._answer_seconds = answer_seconds
        self._mode = "auto"
        self._headers = HeaderParameters()
        self._http = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=answer_seconds),
            limits=_LIMITS,
            event_hooks={"response": [note_refusal]},
        )

    async def __aenter__(self) -> "RemoteGateway":
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def list_tools(
        self, cursor: str | None, host: Implementation | None = None, asks: Asks = NOTHING
    ) -> ListToolsResult:
        """The remote's tools, as it shows them to `host`, which can be asked `asks`.

        Raises `MCPError`: the remote's, or one that explains a failure.
        """
        found = await self.ask(lambda client: client.list_tools(cursor=cursor), host, asks)
        return self._headers.noted(found)

    async def call_tool(
        self,
        params: CallToolRequestParams,
        progress: ProgressFnT | None = None,
        asks: Asks = NOTHING,
    ) -> CallToolResult | InputRequiredResult:
        """The remote's answer to a call, or its questions. Raises `MCPError` as `list_tools` does.

        With `progress`, the remote is asked to report it. `asks`: what the host can be asked.
        """
        # `client.call_tool` would list all tools first, to check what the remote checks anyway.
        bounds = {k: v for k, v in (params.meta or {}).items() if k.startswith(META_PREFIX)}
        known: dict[str, Any] = {each: getattr(params, each) for each in _PASSED_ON}
        known["meta"] = bounds or None
        request = CallToolRequest(params=CallToolRequestParams(**known))

        async def call(client: Client) -> CallToolResult | InputRequiredResult:
            await self._headers.prepare(client, params.name)
            return await client.session.send_request(request, _ANSWERS, progress_callback=progress)

        result = await self.ask(call, asks=asks)
        # This server adds its own name where the host's revision of the protocol asks for one.
        meta = {name: value for name, value in (result.meta or {}).items() if name != _STAMP}
        return result.model_copy(update={"meta": meta or None})

    async def ask(
        self,
        question: Callable[[Client], Awaitable[_T]],
        host: Implementation | None = None,
        asks: Asks = NOTHING,
    ) -> _T:
        """The answer to a `question` that `host` asks. Raises `MCPError` as `list_tools` does."""
        last_refusal = LastRefusal()
        # Tasks that send for this request inherit the variable. Other requests have their own.
        token = LAST_REFUSAL.set(last_refusal)
        try:
            # In all: a remote whose call takes long sends pings.
            with fail_after(self._answer_seconds):
                async with self._connected(host, asks) as client:
                    return await question(client)
        except Exception as error:
            # The next request negotiates the revision of the protocol again.
            self._mode = "auto"
            raise self._explained(error, last_refusal.reason) from error
        finally:
            LAST_REFUSAL.reset(token)

    def _explained(self, error: Exception, refusal: str | None) -> MCPError:
        """The error, explained for the user of the host."""
        cause = next(_causes(error))
        if isinstance(cause, httpx2.ReadTimeout | TimeoutError):
            return self._failed(f"it did not answer within {self._answer_seconds:g} seconds")
        if isinstance(cause, httpx2.TransportError | OSError):
            return self._failed(f"it cannot be reached ({type(cause).__name__})")
        if refusal is not None:
            return self._failed(refusal)
        if isinstance(cause, MCPError):
            return cause
        return self._failed(f"{type(cause).__name__}: {cause}")

    def _failed(self, reason: str) -> MCPError:
        return MCPError(INTERNAL_ERROR, f"The gateway at {self._url} did not serve this: {reason}.")

    @asynccontextmanager
    async def _connected(self, host: Implementation | None, asks: Asks) -> AsyncIterator[Client]:
        transport = streamable_http_client(self._url, http_client=self._http)
        answers: dict[str, Any] = {_CALLBACKS[each]: _unused for each in asks if each in _CALLBACKS}
        async with Client(
            transport, mode=self._mode, cache=None, client_info=host, **answers
        ) as client:
            is_modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
            self._mode = client.protocol_version if is_modern else "legacy"
            yield client


async def serve_bridge(
    url: str, key: str | None, version: str, *, max_message_bytes: int, answer_seconds: float
) -> None:
    """Serve the tools of the gateway at `url` on stdio, until the host closes standard input.

    The remote may take `answer_seconds` for an answer.
    """
    async with RemoteGateway(url, key, answer_seconds) as remote:
        await run_on_stdio(build_bridge(remote, version), max_message_bytes)


def build_bridge(remote: RemoteGateway, version: str) -> Server[Any]:
    """An MCP server that passes lists and calls on to `remote` unchanged.

    Only what the revision of the host does not have is left out: the remote's may be a newer one.
    """

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        known = ctx.session.client_params
        host = None if known is None else known.client_info
        cursor = params.cursor if params else None
        found = await remote.list_tools(cursor, host, asks_of(ctx))
        revision = revision_of(ctx.protocol_version)
        tools = [_known_to(revision, tool) for tool in found.tools]
        return found.model_copy(update={"tools": tools})

    async def call_tool(
        ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        progress = ctx.session.report_progress if asks_progress(ctx) else None
        call = partial(remote.call_tool, progress=progress, asks=asks_of(ctx))
        result = await conversed(ctx, params, call)
        if (
            isinstance(result, InputRequiredResult)
            or revision_of(ctx.protocol_version).has_structure
        ):
            return result
        return result.model_copy(update={"structured_content": None})

    async def describe(_: Context) -> ServerDescription:
        return ServerDescription(title="Contract gateway (bridge)")

    server = HonestServer(
        describe,
        version,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    add_offered(server, remote)
    return server


async def _unused(*_: object) -> NoReturn:
    """Never called: questions of the remote are passed on to the host."""
    raise AssertionError("the remote asked the bridge")


def _known_to(revision: ProtocolRevision, tool: Tool) -> Tool:
    """`tool` with the members that `revision` has, as `listing.known_to` does it."""
    hints = tool.annotations if revision.has_hints else None
    if not revision.has_titles and hints is not None and tool.title is not None:
        hints = hints.model_copy(update={"title": tool.title})
    kept: dict[str, Any] = {"annotations": hints}
    if not revision.has_titles:
        kept["title"] = None
    if not revision.has_structure:
        kept["output_schema"] = None
    return tool.model_copy(update=kept)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors inside (nested) groups, in order."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _causes(inner)
    else:
        yield error
