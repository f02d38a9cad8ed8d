"""The fast path for `tools/call` and `tools/list`: the same answers as the SDK's, at less cost."""

from functools import lru_cache
from typing import Final

from msgspec import UNSET

from gateway.calls.call import CallBounds, Result
from gateway.publication.own_tools import Listable
from gateway.transports.http.asgi import Receive, Scope
from gateway.transports.http.connected import while_connected
from gateway.transports.mcp.cancelling import CalledOff
from gateway.transports.mcp.recognise import Recognised, ToolsCall, ToolsList
from gateway.transports.mcp.results import (
    CANCELLED,
    HTTP_STATUSES,
    ResultBytes,
    error_response,
    is_unknown_tool,
    response,
    unknown_tool,
)
from gateway.transports.mcp.tools import NO_ARGUMENTS, Caller, Tools

_LISTS_KEPT: Final = 256


class FastPath:
    """Serves the requests that `recognise` returned."""

    def __init__(self, tools: Tools, results: ResultBytes) -> None:
        self._tools = tools
        self._results = results
        self._listing = lru_cache(maxsize=_LISTS_KEPT)(results.listing)

    async def answer(
        self, request: Recognised, caller: Caller, scope: Scope, receive: Receive
    ) -> tuple[int, bytes]:
        """The HTTP status and the body.

        Raises `ClientGone` when the client closed the connection, which cancels the call in the
        modern revisions.
        """
        match request.message:
            case ToolsList(id=message_id):
                shown: tuple[Listable, ...] = self._tools.listed(caller)
                listed = self._listing(shown, caller.connector, request.version, caller.view)
                return 200, response(message_id, listed)
            case ToolsCall() as message:
                work = self._call(message, caller, request.bounds, is_modern=request.is_modern)
                # In the handshake revisions, a call goes on when its client leaves.
                if not request.is_modern:
                    return await work
                return await while_connected(work, receive, scope)

    async def _call(
        self, message: ToolsCall, caller: Caller, bounds: CallBounds, *, is_modern: bool
    ) -> tuple[int, bytes]:
        name, raw = message.params.name, message.params.arguments
        arguments = NO_ARGUMENTS if raw is UNSET else bytes(raw)
        try:
            outcome = await self._tools.call(caller, name, arguments, message.id, bounds)
        except CalledOff:
            return 200, error_response(message.id, CANCELLED)
        if isinstance(outcome, Result):
            return 200, response(message.id, self._results.success(outcome, is_modern=is_modern))
        if is_unknown_tool(outcome):
            error = unknown_tool(name, outcome)
            status = HTTP_STATUSES[error.code] if is_modern else 200
            return status, error_response(message.id, error)
        return 200, response(message.id, self._results.failure(outcome, is_modern=is_modern))
