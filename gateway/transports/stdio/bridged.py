"""Resources, prompts and completions of a remote gateway, passed on by the bridge."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from anyio import move_on_after
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    SERVER_INFO_META_KEY,
    CompleteRequest,
    CompleteRequestParams,
    CompleteResult,
    GetPromptRequest,
    GetPromptRequestParams,
    GetPromptResult,
    Implementation,
    ListPromptsRequest,
    ListPromptsResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from gateway.transports.http.bounds import META_PREFIX
from gateway.transports.mcp.revisions import revision_of
from gateway.transports.mcp.task_methods import Context

_METHODS: Final[tuple[tuple[Any, Any, Any], ...]] = (
    (ListResourcesRequest, PaginatedRequestParams, ListResourcesResult),
    (ListResourceTemplatesRequest, PaginatedRequestParams, ListResourceTemplatesResult),
    (ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult),
    (ListPromptsRequest, PaginatedRequestParams, ListPromptsResult),
    (GetPromptRequest, GetPromptRequestParams, GetPromptResult),
    (CompleteRequest, CompleteRequestParams, CompleteResult),
)
"""Each method as its request, its parameters and its result."""
_LISTS: Final = ("resources", "resource_templates", "prompts")
_INTRODUCTIONS: Final = frozenset({"initialize", "server/discover"})
_PASSED_ON: Final = ("resources", "prompts", "completions")
"""The capabilities that the bridge has exactly if the remote has them."""
_ASK_SECONDS: Final = 5.0
"""How long a host waits for what the remote can do. After that, the bridge declares everything."""


class Remote(Protocol):
    """The remote gateway, as far as it is needed here."""

    async def ask(self, question: Any, host: Implementation | None = None) -> Any:
        """The answer to a `question` that `host` asks. Raises `MCPError`."""
        ...


def add_offered(server: Server[Any], remote: Remote) -> None:
    """Add the methods of resources, prompts and completions of `remote` to `server`."""
    for request, params, result in _METHODS:
        method = request.model_fields["method"].default
        server.add_request_handler(method, params, _passing_on(remote, request, result))

    seen: list[frozenset[str]] = []

    async def declare(ctx: Context, call_next: CallNext) -> HandlerResult:
        answer = await call_next(ctx)
        if ctx.method not in _INTRODUCTIONS or not isinstance(answer, Mapping):
            return answer
        if not seen:
            seen.extend(await _capabilities(remote))
        if not seen:
            return answer
        known = seen[0]
        shown = {
            name: each
            for name, each in answer["capabilities"].items()
            if name not in _PASSED_ON or name in known
        }
        return {**answer, "capabilities": shown}

    server.middleware.append(declare)


async def _capabilities(remote: Remote) -> list[frozenset[str]]:
    """The names of the remote's capabilities. Nothing if it does not say them now."""

    async def shown(client: Any) -> frozenset[str]:
        return frozenset(client.server_capabilities.model_dump(exclude_none=True))

    found: frozenset[str] = frozenset()
    with move_on_after(_ASK_SECONDS), suppress(MCPError):
        found = await remote.ask(shown)
    # A client that knows the revision from an earlier request does not get them again.
    return [found] if found else []


def _passing_on(remote: Remote, request_type: Any, result_type: Any) -> Any:
    async def pass_on(ctx: Context, params: Any) -> Any:
        known = {} if params is None else params.model_dump(by_alias=True, exclude_none=True)
        meta = known.pop("_meta", None) or {}
        known["_meta"] = {k: v for k, v in meta.items() if k.startswith(META_PREFIX)} or None
        request = request_type.model_validate({"params": known})
        result = await remote.ask(
            lambda client: client.session.send_request(request, result_type), _host(ctx)
        )
        return _known_to(ctx, result)

    return pass_on


def _host(ctx: Context) -> Implementation | None:
    params = ctx.session.client_params
    return None if params is None else params.client_info


def _known_to(ctx: Context, result: Any) -> Any:
    """`result` as the host's revision has it. The remote's may be a newer one."""
    # This server adds its own name where the host's revision of the protocol asks for one.
    meta = {**(result.meta or {})}
    meta.pop(SERVER_INFO_META_KEY, None)
    update: dict[str, Any] = {"meta": meta or None}
    if not revision_of(ctx.protocol_version).has_titles:
        for name in _LISTS:
            if hasattr(result, name):
                items = getattr(result, name)
                update[name] = [each.model_copy(update={"title": None}) for each in items]
    return result.model_copy(update=update)
