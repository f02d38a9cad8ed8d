"""How an authenticated caller's message is handled: read strictly, then the fast path or the SDK's.

Loading the protocol's types takes a quarter of a second, so only `endpoint` imports this module,
when the first request has come, and in a thread.
"""

import asyncio
from http import HTTPStatus
from typing import Final

from gateway.transports.http.asgi import Message, Receive, Scope, Send, read_body, replay, respond
from gateway.transports.mcp.cancelling import SESSION_HEADER, new_session
from gateway.transports.mcp.fast import FastPath
from gateway.transports.mcp.loading import SdkPath
from gateway.transports.mcp.messages import Cancelled, Initialize, control_of, refusal
from gateway.transports.mcp.protocol import header_text, is_of_handshake_era, server_info
from gateway.transports.mcp.recognise import recognise
from gateway.transports.mcp.results import HTTP_STATUSES, ResultBytes, error_response
from gateway.transports.mcp.tools import CALLER, Caller, Tools

_MALFORMED: Final = b"=?base64?!?="
"""A name that the SDK refuses as no base64."""


class Paths:
    """Serves messages by one of the two paths."""

    def __init__(self, tools: Tools, sdk: SdkPath, version: str) -> None:
        self._tools = tools
        self._sdk = sdk
        self._fast = FastPath(tools, ResultBytes(server_info(version)))

    async def serve(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request, a POST of JSON. Raises `ClientGone` and `InternalError`."""
        body = await read_body(receive)
        error = refusal(body, caller.request_id)
        if error is not None:
            await respond(send, HTTP_STATUSES[error.code], error_response(None, error))
            return
        request = recognise(scope["headers"], body)
        if request is None:
            scope[CALLER] = caller
            if is_of_handshake_era(scope["headers"]):
                # To the SDK a disconnect is a cancellation, which it is from 2026-07-28 on only.
                receive = _never
                send = self._control(caller, body, send)
            else:
                scope["headers"] = [
                    (name, _checked(name, value)) for name, value in scope["headers"]
                ]
            await self._sdk.handle(scope, replay(body, receive), send)
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


def _checked(name: bytes, value: bytes) -> bytes:
    """A routing header as the SDK can check it: it fails on base64 that is no ASCII."""
    is_name = name == b"mcp-name" and not value.isascii()
    return _MALFORMED if is_name and header_text(value.decode("latin-1")) is None else value


def _naming_session(send: Send) -> Send:
    """Send the answer to `initialize` with the name of a new session."""

    async def send_named(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
            message["headers"] = [*message["headers"], (SESSION_HEADER, new_session())]
        await send(message)

    return send_named


async def _never() -> Message:
    endless: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
    return await endless
