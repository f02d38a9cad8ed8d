"""A mock upstream as an ASGI application, so that it can be served over HTTP."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from gateway.backends.mock.application import MockBrokeContract
from gateway.backends.mock.protocol import MockApplication
from gateway.backends.wire import WireReply, WireRequest
from gateway.observability.defects import log_defect

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApplication = Callable[[Message, Receive, Send], Awaitable[None]]

_BROKEN: Final = WireReply(
    status=500,
    headers={"content-type": "application/json"},
    body=b'{"error":"mock-broke-contract"}',
)
_log = logging.getLogger(__name__)


def asgi_app(application: MockApplication) -> ASGIApplication:
    """`application` for an ASGI server. A reply that breaks the contract becomes a 500."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
        elif scope["type"] == "http":
            await _send(await _reply(application, scope, receive), send)

    return serve


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        event = (await receive())["type"]
        await send({"type": f"{event}.complete"})
        if event == "lifespan.shutdown":
            return


async def _reply(application: MockApplication, scope: Message, receive: Receive) -> WireReply:
    try:
        return await application.handle(await _request(scope, receive))
    except MockBrokeContract as error:
        log_defect(_log, error, "the mock's reply breaks its contract")
        return _BROKEN


async def _request(scope: Message, receive: Receive) -> WireRequest:
    body = bytearray()
    message: Message = {"more_body": True}
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    query: bytes = scope["query_string"]
    path = scope["raw_path"].decode("latin-1")
    return WireRequest(
        method=scope["method"],
        target=f"{path}?{query.decode('latin-1')}" if query else path,
        headers=tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]),
        body=bytes(body) or None,
    )


async def _send(reply: WireReply, send: Send) -> None:
    headers = {**reply.headers, "content-length": str(len(reply.body))}
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    half = len(reply.body) // 2 if reply.is_cut or reply.body_delay_seconds else 0
    await send({"type": "http.response.body", "body": reply.body[:half], "more_body": True})
    await asyncio.sleep(reply.body_delay_seconds)
    if reply.is_cut:
        # The body is shorter than announced, so the server must close the connection.
        return
    await send({"type": "http.response.body", "body": reply.body[half:]})
