"""The form of answers over HTTP: JSON or an event stream, whichever the client accepts.

The specification tells clients to accept both. Most of those that accept one are programs of a few
lines, whose library names JSON alone. Most calls are short and answered with JSON. An answer that
is not ready after `PING_SECONDS` becomes an event stream, as the SDK's server does it: pings as
comments, so that proxies keep the connection, and the answer as its only event.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.errors import InternalError
from gateway.transports.events import EVENT_STREAM, STREAM_HEAD
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
from gateway.transports.http.content import accepted_in, accepts_in
from gateway.transports.http.problems import send_problem

BOTH_TYPES: Final = f"{JSON.decode()}, {EVENT_STREAM}"
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


PING_SECONDS: Final = 15.0
"""The most common limit of proxies for idle connections is 30 seconds or more."""
_LOOKS: Final = 3
"""How often the answers are looked at in this time."""
_PING: Final = b": ping\r\n\r\n"


class LateAnswer:
    """The answer to one request, which may become a stream."""

    def __init__(self, send: Send, due: float) -> None:
        self._send = send
        self._ping: asyncio.Task[None] | None = None
        self._is_stream = False
        self.due = due
        """When the client needs the next ping, by the clock of the event loop."""

    def ping(self) -> None:
        """Send a ping, unless the one before is still being sent."""
        if self._ping is None or self._ping.done():
            self._ping = asyncio.create_task(self._say_ping())

    async def end(self, status: int, body: bytes) -> None:
        """Send the answer. A stream has begun with the status 200."""
        if self._ping is not None:
            await asyncio.wait([self._ping])
        if not self._is_stream:
            await respond(self._send, status, body)
            return
        await self._send({"type": "http.response.body", "body": EVENT % body})

    def close(self) -> None:
        """Send no more."""
        if self._ping is not None:
            self._ping.cancel()

    async def _say_ping(self) -> None:
        if not self._is_stream:
            self._is_stream = True
            await self._send({"type": "http.response.start", "status": 200, "headers": STREAM_HEAD})
        await self._send({"type": "http.response.body", "body": _PING, "more_body": True})


class LateAnswers:
    """The answers that clients wait for. One timer serves all of them."""

    def __init__(self, ping_seconds: float = PING_SECONDS) -> None:
        self._ping_seconds = ping_seconds
        self._waiting: dict[LateAnswer, None] = {}
        self._look: asyncio.TimerHandle | None = None

    @contextmanager
    def of(self, send: Send) -> Iterator[LateAnswer]:
        """The answer that is sent with `send`, while it is being made."""
        loop = asyncio.get_running_loop()
        answer = LateAnswer(send, loop.time() + self._ping_seconds)
        self._waiting[answer] = None
        if self._look is None:
            self._plan()
        try:
            yield answer
        finally:
            del self._waiting[answer]
            answer.close()

    def _plan(self) -> None:
        loop = asyncio.get_running_loop()
        self._look = loop.call_later(self._ping_seconds / _LOOKS, self._ping_late)

    def _ping_late(self) -> None:
        self._look = None
        if not self._waiting:
            return
        now = asyncio.get_running_loop().time()
        for answer in self._waiting:
            if answer.due <= now:
                answer.due = now + self._ping_seconds
                answer.ping()
        self._plan()
