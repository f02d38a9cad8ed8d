"""What the server says of itself, in the words of the client's revision."""

from collections.abc import Mapping
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import ServerCapabilities

from gateway.transports.mcp.revisions import revision_of

_LISTS: Final = ("tools", "resources", "prompts")
"""What a client can list, and a reload may change."""


class HonestServer(Server[Any]):
    """A server that says of itself what is true, in the words of the client's revision.

    The SDK declares all kinds of changes for a server that has `subscriptions/listen`, and
    describes servers as the newest revision does.
    """

    def __init__(self, *args: Any, announces_lists: bool = False, **options: Any) -> None:
        """`announces_lists`: those who listen are notified when the lists change.

        Only the revision 2026-07-28 has a stream for it.
        """
        super().__init__(*args, **options)
        self._announces_lists = announces_lists
        self.middleware.append(self._introduce)

    def get_capabilities(self, *args: Any, **options: Any) -> ServerCapabilities:
        """The capabilities that the SDK derives, without changes of the lists."""
        capabilities = super().get_capabilities(*args, **options)
        if capabilities.tools is not None:
            capabilities.tools.list_changed = False
        if capabilities.resources is not None:
            capabilities.resources.list_changed = False
        if capabilities.prompts is not None:
            capabilities.prompts.list_changed = False
        return capabilities

    async def _introduce(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        result = await call_next(ctx)
        if not isinstance(result, Mapping):
            return result
        if ctx.method == "initialize":
            return _as_known(result)
        if ctx.method == "server/discover" and self._announces_lists:
            known = result["capabilities"]
            lists = {each: {**known[each], "listChanged": True} for each in _LISTS if each in known}
            return {**result, "capabilities": {**known, **lists}}
        return result


def _as_known(result: Mapping[str, Any]) -> HandlerResult:
    """The answer to `initialize` without what its revision does not know of a server."""
    revision = revision_of(result["protocolVersion"])
    if revision.has_titles:
        return dict(result)
    info = {name: value for name, value in result["serverInfo"].items() if name != "title"}
    found = {**result, "serverInfo": info}
    if not revision.has_completions:
        capabilities = result["capabilities"].items()
        found["capabilities"] = {k: v for k, v in capabilities if k != "completions"}
    return found
