"""Answers in the media type that a client accepts: JSON, an event stream, or either.

The specification tells clients to accept both. Most of those that accept one are programs of a few
lines, whose library names JSON alone.
"""

from typing import Final

from gateway.errors import InternalError
from gateway.transports.events import EVENT_STREAM
from gateway.transports.http.asgi import (
    JSON,
    Headers,
    Message,
    Scope,
    Send,
    of_head,
    request_id_of,
    respond,
)
from gateway.transports.http.negotiation import accepted_in, accepts_in
from gateway.transports.http.problems import send_problem

BOTH_TYPES: Final = f"{JSON.decode()}, {EVENT_STREAM}"
STREAM_HEAD: Final[Headers] = [
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-store, no-transform"),
    # Without this, proxies that buffer answers would delay the pings.
    (b"x-accel-buffering", b"no"),
]
EVENT: Final = b"event: message\r\ndata: %b\r\n\r\n"
_END: Final = b"\r\n\r\n"
_DATA: Final = b"data: "
_OF_THE_BODY: Final = frozenset(
    {b"content-type", b"content-length", b"cache-control", b"connection", b"x-accel-buffering"}
)


def in_accepted_type(scope: Scope, send: Send) -> Send:
    """A `send` that turns the answer into the media type that the request accepts."""
    has_json, has_events = of_head(scope, accepted_types)
    if has_json and has_events:
        return send
    return OneAnswer(scope, send) if has_json else OneEvent(send)


def accepted_types(headers: Headers) -> tuple[bool, bool]:
    """Whether a request with these headers accepts JSON, and whether event streams."""
    ranges = accepted_in(headers)
    return accepts_in(ranges, JSON.decode()), accepts_in(ranges, EVENT_STREAM)


def without_type(send: Send) -> Send:
    """A `send` that gives answers without contents no Content-Type."""

    async def send_typed(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 202:
            message["headers"] = [each for each in message["headers"] if each[0] != b"content-type"]
        await send(message)

    return send_typed


class OneAnswer:
    """Sends the answer at the end of an event stream as JSON, and nothing of what is before it."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._start: Message | None = None
        self._answer: bytes | None = None
        self._rest = b""

    async def __call__(self, message: Message) -> None:
        """Send or keep one ASGI message."""
        if message["type"] == "http.response.start" and _type_of(message) != JSON:
            self._start = message if _type_of(message) == EVENT_STREAM.encode() else None
        if self._start is None:
            await self._send(message)
        elif message["type"] == "http.response.body":
            self._read(message.get("body", b""))
            if not message.get("more_body", False):
                await self._end(self._start)

    def _read(self, piece: bytes) -> None:
        *events, self._rest = (self._rest + piece).split(_END)
        for event in events:
            self._answer = next(
                (line[len(_DATA) :] for line in event.split(b"\r\n") if line.startswith(_DATA)),
                self._answer,
            )

    async def _end(self, start: Message) -> None:
        if self._answer is None:
            error = InternalError("The message was not answered.")
            await send_problem(self._send, error, request_id_of(self._scope))
            return
        await respond(self._send, start["status"], self._answer, headers=_others(start))


class OneEvent:
    """Sends a JSON answer with the status 200 as the only event of a stream."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """Send or keep one ASGI message."""
        is_start = message["type"] == "http.response.start"
        if is_start and message["status"] == 200 and _type_of(message) == JSON:
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            headers = [*STREAM_HEAD, *_others(self._start)]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send({"type": "http.response.body", "body": EVENT % self._body})


def _type_of(start: Message) -> bytes:
    values = [bytes(value) for name, value in start["headers"] if name == b"content-type"]
    return values[0].partition(b";")[0].strip() if values else b""


def _others(start: Message) -> Headers:
    """The headers that do not describe the body, such as that of the session."""
    return [each for each in start["headers"] if each[0] not in _OF_THE_BODY]
