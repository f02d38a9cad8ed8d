"""The MCP SDK's server with our tools: it serves all that the fast path does not."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

from anyio import CancelScope
from mcp.server import Server
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    EmptyResult,
    ListToolsResult,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    ServerCapabilities,
    SetLevelRequestParams,
)
from msgspec.structs import replace

from gateway.calls.call import Commitment, Result
from gateway.contract.context import LogLevel
from gateway.contract.server_description import ServerDescription
from gateway.contract.values import jsontext
from gateway.profiles.clients import profile_of
from gateway.transports.events import Followers
from gateway.transports.http.problems import Problem
from gateway.transports.json_rpc import INVALID_PARAMS, INVALID_REQUEST
from gateway.transports.mcp.caller import Caller, header_schema
from gateway.transports.mcp.cancelling import CalledOff
from gateway.transports.mcp.delivery import WholeResult
from gateway.transports.mcp.descriptions import introduced
from gateway.transports.mcp.errors import CANCELLED, error_of_call
from gateway.transports.mcp.events import EventResource, lists_of
from gateway.transports.mcp.offered import add_context
from gateway.transports.mcp.protocol import PROGRESS, ProtocolRevision, revision_of
from gateway.transports.mcp.reporting import LogLevels, LogMessages, ProgressReports, SendProgress
from gateway.transports.mcp.requests import (
    CallerOf,
    Context,
    answered,
    bounds_in,
    declaring,
    refused,
)
from gateway.transports.mcp.results import (
    LIST_CACHE,
    failure,
    listing,
    success,
)
from gateway.transports.mcp.subscriptions import Subscribing, add_subscribing
from gateway.transports.mcp.tasks import add_tasks
from gateway.transports.mcp.tools import NO_ARGUMENTS, Tools

Describe: TypeAlias = Callable[[ServerRequestContext[Any, Any]], Awaitable[ServerDescription]]
"""Finds the server that the caller of a message has reached."""
_CAPABILITIES: Final = "capabilities"
_FIRST: Final = frozenset({"initialize", "server/discover"})
"""The methods that are answered with the capabilities."""
_LISTS: Final = ("tools", "resources", "prompts")
"""What a client can list, and a reload may change."""


class HonestServer(Server[Any]):
    """A server that says of itself what is true, in the words of the client's revision.

    The SDK declares all kinds of changes for a server that has `subscriptions/listen`, and
    describes servers as the newest revision does.
    """

    def __init__(
        self, describe: Describe, version: str, *, announces_lists: bool = False, **options: Any
    ) -> None:
        """`announces_lists`: clients that have a stream are notified when the lists change."""
        super().__init__(ServerDescription().name, version=version, **options)
        self._describe = describe
        self._announces_lists = announces_lists
        self.middleware.append(self._introduce)

    def get_capabilities(self, *args: Any, **options: Any) -> ServerCapabilities:
        """The capabilities that the SDK derives, without changes of the lists."""
        capabilities = super().get_capabilities(*args, **options)
        for each in (capabilities.tools, capabilities.resources, capabilities.prompts):
            if each is not None:
                each.list_changed = False
        return capabilities

    async def _introduce(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Name the server of the caller's endpoint, with what the revision has of servers."""
        result = await call_next(ctx)
        if not isinstance(result, Mapping):
            return result
        server = await self._describe(ctx)
        found = dict(introduced(result, ctx.method, server, self.version or ""))
        if ctx.method in _FIRST and self._announces_lists:
            known = found[_CAPABILITIES]
            lists = {each: {**known[each], "listChanged": True} for each in _LISTS if each in known}
            found[_CAPABILITIES] = {**known, **lists}
        return _as_known(found) if ctx.method == "initialize" else found


def _as_known(result: dict[str, Any]) -> HandlerResult:
    """The answer to `initialize` without the capabilities that its revision does not have."""
    if revision_of(result["protocolVersion"]).has_completions:
        return result
    known = {k: v for k, v in result[_CAPABILITIES].items() if k != "completions"}
    return {**result, _CAPABILITIES: known}


_LIST: Final = CacheHint(ttl_ms=LIST_CACHE.ttl_ms, scope=LIST_CACHE.scope)
_CACHE: Final[Mapping[CacheableMethod, CacheHint]] = {
    "tools/list": _LIST,
    "server/discover": _LIST,
    "resources/list": _LIST,
    "resources/templates/list": _LIST,
    "prompts/list": _LIST,
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
}


def profile_of_client(ctx: Context) -> str | None:
    """The profile of the client, by its name in `initialize` or in `_meta`. None without one."""
    params = ctx.session.client_params
    return None if params is None else profile_of(params.client_info.name).name


def _arguments(ctx: Context, params: CallToolRequestParams) -> bytes:
    """The arguments as JSON text. Arguments may be left out, but `null` raises `MCPError`."""
    if params.arguments is None and "arguments" in (ctx.params or {}):
        raise MCPError(INVALID_PARAMS, "Invalid params: arguments must be an object")
    return jsontext.encode(params.arguments) if params.arguments else NO_ARGUMENTS


def _asks_progress(ctx: Context) -> bool:
    """Whether the request asks for notifications of its progress."""
    meta = (ctx.params or {}).get("_meta") or {}
    return meta.get(PROGRESS) is not None


def _sender(ctx: Context) -> SendProgress:
    """Sends `notifications/progress` with the token of the request."""
    has_text = revision_of(ctx.protocol_version).has_progress_text

    async def send(done: float, message: str, total: float | None) -> None:
        await ctx.session.report_progress(done, total, message if has_text else None)

    return send


def log_messages(ctx: Context, tool: str, least: LogLevel) -> LogMessages:
    """The messages of the request of `ctx`, which calls `tool`."""

    async def send(level: LogLevel, text: str) -> None:
        params = LoggingMessageNotificationParams(level=level, logger=tool, data=text)
        await ctx.session.send_notification(
            LoggingMessageNotification(params=params), related_request_id=ctx.request_id
        )

    return LogMessages(send, least)


def add_logging(
    server: Server[Any], levels: LogLevels, caller_of: Callable[[Context], Awaitable[Caller]]
) -> None:
    """Let clients of the handshake revisions set the level of what they are sent."""

    async def set_level(ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
        if not levels.set(await caller_of(ctx), params.level):
            raise MCPError(INVALID_REQUEST, "The level needs the Mcp-Session-Id of `initialize`")
        return EmptyResult()

    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)


class ShieldedCalls:
    """The running calls that have begun a write, which the SDK must not cancel."""

    def __init__(self) -> None:
        self._scopes: set[CancelScope] = set()
        self._is_none = asyncio.Event()
        self._is_none.set()

    @contextmanager
    def around(self, commitment: Commitment | None) -> Iterator[None]:
        """Shield the block from cancellations of the SDK, once the `commitment` is made."""
        with CancelScope() as scope:
            if commitment is not None:
                commitment.on_made = partial(self._shield, scope)
                commitment.on_taken_back = partial(self._unshield, scope)
            try:
                yield
            finally:
                self._discard(scope)

    async def ended(self) -> None:
        """Return when none of them runs."""
        await self._is_none.wait()

    def expose(self) -> None:
        """Let the server cancel all calls again: it stops."""
        for scope in self._scopes:
            scope.shield = False

    def _shield(self, scope: CancelScope) -> None:
        scope.shield = True
        self._scopes.add(scope)
        self._is_none.clear()

    def _unshield(self, scope: CancelScope) -> None:
        scope.shield = False
        self._discard(scope)

    def _discard(self, scope: CancelScope) -> None:
        self._scopes.discard(scope)
        if not self._scopes:
            self._is_none.set()


@asynccontextmanager
async def _attended(
    ctx: Context, tools: Tools, name: str, caller: Caller, shielded: ShieldedCalls
) -> AsyncIterator[Caller]:
    """The caller of the tool `name`, while it is called.

    The caller is sent the progress and the messages that it asks for. A write that has begun is
    shielded.
    """
    async with AsyncExitStack() as stack:
        if _asks_progress(ctx) and tools.reporting.has_progress(name, caller.connector):
            reports = await stack.enter_async_context(ProgressReports(_sender(ctx)))
            caller = replace(caller, progress=reports.report)
        meta = (ctx.params or {}).get("_meta")
        is_modern = revision_of(ctx.protocol_version).is_modern
        level = tools.reporting.log_level(caller, name, meta if is_modern else None)
        if level is not None:
            messages = await stack.enter_async_context(log_messages(ctx, name, level))
            caller = replace(caller, log=messages.write)
        stack.enter_context(shielded.around(caller.commitment))
        yield caller


def _answer(
    outcome: Result | Problem, name: str, revision: ProtocolRevision
) -> CallToolResult | dict[str, Any]:
    """The answer to a call of the tool `name`. Raises `MCPError`: see `error_of_call`."""
    if isinstance(outcome, WholeResult):
        return outcome.values
    if isinstance(outcome, Result):
        return success(outcome, revision)
    error = error_of_call(outcome, name, revision)
    if error is not None:
        raise refused(error)
    return failure(outcome)


def _describing(tools: Tools, caller_of: CallerOf) -> Describe:
    async def describe(ctx: Context) -> ServerDescription:
        caller = await caller_of(ctx)
        return tools.servers.of(caller.principal, caller.connector)

    return describe


def build_server(
    tools: Tools,
    caller_of: CallerOf,
    version: str,
    followers: Followers | None = None,
    shielded: ShieldedCalls | None = None,
    *,
    kept: Subscribing | None = None,
) -> Server[Any]:
    """A low-level server that lists and calls `tools`. `followers`: it serves events too.
    `kept`: clients of the handshake revisions can subscribe to resources."""
    shielded = shielded or ShieldedCalls()
    lists = lists_of(tools.offered) if kept is not None and kept.lists_change else ()

    async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        _refuse_cursor(params)
        caller = declaring(await caller_of(ctx), ctx)
        return listing(await tools.texts(caller, revision_of(ctx.protocol_version)))

    async def call_tool(
        ctx: Context, params: CallToolRequestParams
    ) -> CallToolResult | dict[str, Any]:
        arguments, bounds = _arguments(ctx, params), bounds_in(ctx)
        caller = answered(declaring(await caller_of(ctx), ctx), ctx)
        try:
            async with _attended(ctx, tools, params.name, caller, shielded) as attended:
                outcome = await tools.call(attended, params.name, arguments, ctx.request_id, bounds)
        except CalledOff:
            raise refused(CANCELLED) from None
        return _answer(outcome, params.name, revision_of(ctx.protocol_version))

    server = HonestServer(
        _describing(tools, caller_of),
        version,
        cache_hints=_CACHE,
        get_tool_input_schema=header_schema,
        announces_lists=bool(lists),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    events = None if followers is None else EventResource(followers, lists=lists)
    return _with_methods(server, tools, caller_of, events, kept)


def _with_methods(
    server: Server[Any],
    tools: Tools,
    caller_of: CallerOf,
    events: EventResource | None,
    kept: Subscribing | None,
) -> Server[Any]:
    """`server` with the methods that only some gateways have."""
    if tools.reporting.has_logs:
        add_logging(server, tools.reporting.levels, caller_of)
    if tools.has_tasks:
        add_tasks(server, tools, caller_of)
    resources = add_context(server, tools, caller_of, events)
    if kept is not None and resources is not None:
        add_subscribing(server, resources, caller_of, kept)
    return server


def _refuse_cursor(params: PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "Unknown cursor: all tools are on one page")
