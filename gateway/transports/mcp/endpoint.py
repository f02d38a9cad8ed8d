"""The MCP door over HTTP: prove the caller, read strictly, then the fast path or the SDK."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Any, Final

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from sse_starlette.sse import AppStatus

from gateway.contract.values import jsontext
from gateway.errors import GatewayError, MalformedRequest, MethodNotAllowed, NotAcceptable
from gateway.transports.following import Followers
from gateway.transports.http.asgi import (
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    header_values,
    read_body,
    replay,
    request_id_of,
    respond,
)
from gateway.transports.http.body_limits import largest_body
from gateway.transports.http.credentials import prove, shown_credentials
from gateway.transports.http.edge import EdgeRules
from gateway.transports.http.negotiation import require_accept, require_json_body
from gateway.transports.http.peers import sender_of
from gateway.transports.http.problems import send_problem
from gateway.transports.mcp.cancelling import SESSION_HEADER, new_session, session_of
from gateway.transports.mcp.fast import FastPath
from gateway.transports.mcp.messages import Cancelled, Initialize, control_of, refusal
from gateway.transports.mcp.recognise import is_of_handshake_era, recognise
from gateway.transports.mcp.results import ResultBytes, error_response
from gateway.transports.mcp.server import Context, build_server
from gateway.transports.mcp.tools import Caller, Tools

_CALLER: Final = "gateway.caller"
NO_LIMITS: Final[Mapping[str, int]] = {}


class McpEndpoint:
    """Serves `/mcp` and `/mcp/<connector>`. Stateless: any process serves any request.

    A session of the handshake revisions is only a name, by which its calls can be cancelled.
    """

    def __init__(
        self,
        tools: Tools,
        rules: EdgeRules,
        version: str,
        followers: Followers | None = None,
        body_limits: Mapping[str, int] = NO_LIMITS,
    ) -> None:
        """`body_limits` are those of operations that may take more than the rules say."""
        _let_streams_end_by_themselves()
        self._tools = tools
        self._max_body_bytes = rules.max_body_bytes
        self._body_limits = body_limits
        server = build_server(tools, _caller_of, version, followers)
        self._info = _info_of(server)
        self._fast = FastPath(tools, ResultBytes(server.server_info_stamp))
        self._manager = StreamableHTTPSessionManager(
            server,
            stateless=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=rules.hosts.host_patterns(),
                allowed_origins=rules.hosts.origin_patterns(),
            ),
            # The edge has made sure of it, for each caller.
            max_request_body_size=max((rules.max_body_bytes, *body_limits.values())),
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        """Hold the door open; entered once, for as long as the application lives."""
        return self._manager.run()

    async def serve(
        self, connector: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve one HTTP request on the endpoint of `connector`, or on the one for all."""
        try:
            caller = await self._admit(connector, scope)
            await self._serve(caller, scope, receive, send)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - this door's single edge
            await send_problem(send, error, request_id_of(scope))

    async def serve_info(self, scope: Scope, send: Send) -> None:
        """Serve `GET /mcp/info`: who this is and what it speaks, for callers with a key."""
        try:
            await self._admit("info", scope)
            _require_reading(scope)
            await respond(send, HTTPStatus.OK, self._info)
        except Exception as error:  # noqa: BLE001 - this door's single edge
            await send_problem(send, error, request_id_of(scope))

    async def _admit(self, connector: str | None, scope: Scope) -> Caller:
        """The proven caller. Raises `Unauthenticated` before anything else is looked at."""
        credentials, sender = shown_credentials(scope), sender_of(scope)
        request_id = request_id_of(scope)
        try:
            principal = await prove(self._tools, credentials, sender)
        except GatewayError as error:
            endpoint = "mcp" if connector is None else f"mcp/{connector}"
            await self._tools.refuse(credentials, endpoint, request_id, error)
        may_call = self._tools.may_call(principal)
        sender.max_body_bytes = largest_body(self._body_limits, self._max_body_bytes, may_call)
        return Caller(
            principal=principal,
            credentials=credentials,
            transport="mcp",
            request_id=request_id,
            connector=connector,
            session=session_of(scope) if is_of_handshake_era(scope["headers"]) else None,
        )

    async def _serve(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        _check_form(scope)
        body = await read_body(receive)
        error = refusal(body, caller.request_id)
        if error is not None:
            await respond(send, ERROR_CODE_HTTP_STATUS[error.code], error_response(None, error))
            return
        request = recognise(scope["headers"], body)
        if request is None:
            scope[_CALLER] = caller
            if is_of_handshake_era(scope["headers"]):
                # To the SDK a disconnect is a cancellation, which it is from 2026-07-28 on only.
                receive = _never
                send = self._control(caller, body, send)
            await self._manager.handle_request(scope, replay(body, receive), send)
            return
        status, answer = await self._fast.answer(request, caller, receive)
        await respond(send, status, answer)

    def _control(self, caller: Caller, body: bytes, send: Send) -> Send:
        """Do what a message of the handshake revisions asks of the transport itself."""
        match control_of(body):
            case Initialize():
                return _naming_session(send)
            case Cancelled(params=params):
                self._tools.cancel(caller, params.request)
        return send


def _naming_session(send: Send) -> Send:
    """Send the answer to `initialize` with the name of a new session."""

    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
            message["headers"] = [*message["headers"], (SESSION_HEADER, new_session())]
        await send(message)

    return send_named


def _require_reading(scope: Scope) -> None:
    if scope["method"] not in {"GET", "HEAD"}:
        raise MethodNotAllowed(allow=("GET", "HEAD"))


def _info_of(server: Server[Any]) -> bytes:
    """What `/mcp/info` answers."""
    revisions = [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS]
    info = {
        **server.server_info.model_dump(by_alias=True, mode="json", exclude_none=True),
        "protocolVersions": sorted(revisions, reverse=True),
        "transport": "streamable-http",
        "endpoint": "/mcp",
    }
    return jsontext.encode(info)


def _let_streams_end_by_themselves() -> None:
    """Keep the SDK's event streams from ending, their calls unanswered, with the signal to stop.

    The library remembers for the whole process that any server in it was told to stop: also one
    before this door was built.
    """
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]  # the library's gap
    AppStatus.should_exit = False


def _check_form(scope: Scope) -> None:
    if scope["method"] != "POST":
        # There is no session, so there is nothing to stream on GET and nothing to DELETE.
        raise MethodNotAllowed(allow=("POST",))
    require_json_body(scope)
    if not header_values(scope, b"accept"):
        raise NotAcceptable
    require_accept(scope, "application/json", "text/event-stream")


async def _never() -> Message:
    endless: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await endless


async def _caller_of(ctx: Context) -> Caller:
    request = ctx.request
    if request is None or not isinstance(caller := request.scope.get(_CALLER), Caller):
        raise MalformedRequest("The message came past the door.")
    return caller
