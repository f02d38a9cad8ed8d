"""What the server says of itself, in the words of the client's revision."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import ServerCapabilities

from gateway.contract.server_description import ServerDescription
from gateway.transports.mcp.outgoing.introduction import introduced
from gateway.transports.mcp.revisions import revision_of

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
