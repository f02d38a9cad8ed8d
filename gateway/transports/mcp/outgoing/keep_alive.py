"""Sends pings to clients whose calls take long, so that proxies keep their connections.

Most calls are short and answered with JSON. An answer that is not ready after `PING_SECONDS`
becomes an event stream, as the SDK's server does it: comments, and the answer as its only event.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from gateway.transports.http.asgi import Send, respond
from gateway.transports.mcp.outgoing.media_types import EVENT, STREAM_HEAD

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
