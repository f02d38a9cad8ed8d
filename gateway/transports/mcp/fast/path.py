"""The fast path for `tools/call` and `tools/list`: the same answers as the SDK's, at less cost."""

from msgspec import UNSET

from gateway.calls.call import CallBounds, Result
from gateway.calls.large import beside
from gateway.trace_context import current_trace
from gateway.transports.http.asgi import Receive, Scope
from gateway.transports.http.connected import while_connected
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.cancelling import CalledOff
from gateway.transports.mcp.fast.recognise import Recognised, ToolsCall, ToolsList
from gateway.transports.mcp.outgoing.introduction import server_info
from gateway.transports.mcp.results import (
    CANCELLED,
    HTTP_STATUSES,
    ResultBytes,
    error_response,
    protocol_error,
    response,
)
from gateway.transports.mcp.revisions import ProtocolRevision, revision_of
from gateway.transports.mcp.tools import NO_ARGUMENTS, Tools


class FastPath:
    """Serves the requests that `recognise` returned."""

    def __init__(self, tools: Tools, version: str) -> None:
        self._tools = tools
        self._version = version
        self._results: dict[tuple[str | None, bool], ResultBytes] = {}
        """By endpoint, and by whether the caller is shown what is there."""

    async def answer(
        self, request: Recognised, caller: Caller, scope: Scope, receive: Receive
    ) -> tuple[int, bytes]:
        """The HTTP status and the body.

        Raises `ClientGone` when the client closed the connection, which cancels the call in the
        modern revisions unless it has begun a write.
        """
        match request.message:
            case ToolsList(id=message_id):
                revision = revision_of(request.version)
                listed = await self._tools.texts(caller, revision)
                return 200, response(message_id, self._of(caller).listing(listed, revision))
            case ToolsCall() as message:
                if request.trace is not None:
                    # One task serves one request, so this context variable ends with the request.
                    current_trace.set(request.trace)
                work = self._call(message, caller, request.bounds, revision_of(request.version))
                # In the handshake revisions, a call goes on when its client leaves.
                if not request.is_modern:
                    return await work
                return await while_connected(work, receive, scope, caller.commitment)

    def _of(self, caller: Caller) -> ResultBytes:
        """The results of the server that the caller has reached."""
        servers = self._tools.servers
        key = caller.connector, servers.may_see(caller.principal, caller.connector)
        found = self._results.get(key)
        if found is None:
            server = servers.of(caller.principal, caller.connector)
            found = self._results[key] = ResultBytes(server_info(server, self._version))
        return found

    async def _call(
        self, message: ToolsCall, caller: Caller, bounds: CallBounds, revision: ProtocolRevision
    ) -> tuple[int, bytes]:
        name, raw = message.params.name, message.params.arguments
        arguments = NO_ARGUMENTS if raw is UNSET else bytes(raw)
        try:
            outcome = await self._tools.call(caller, name, arguments, message.id, bounds)
        except CalledOff:
            return 200, error_response(message.id, CANCELLED)
        if isinstance(outcome, Result):
            success = self._of(caller).success
            result = await beside(len(outcome.text), success, outcome, revision)
            return 200, response(message.id, result)
        error = protocol_error(outcome, name, revision)
        if error is not None:
            status = HTTP_STATUSES[error.code] if revision.is_modern else 200
            return status, error_response(message.id, error)
        return 200, response(message.id, self._of(caller).failure(outcome, revision))
