"""The body of one request: how much of it is read, and how long that may take."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from gateway.errors import PayloadTooLarge
from gateway.transports.asgi import Message, Receive, Scope, header_values
from gateway.transports.problem_kinds import BodyTooSlow

_MAX_BYTES: Final = "gateway.max_body_bytes"


def take_body_of_caller(scope: Scope, max_bytes: int) -> None:
    """Let the body of this request, whose caller is proven, have `max_bytes`."""
    scope[_MAX_BYTES] = max_bytes


def is_body_of_caller(scope: Mapping[str, Any]) -> bool:
    """Whether the caller of this request is proven."""
    return _MAX_BYTES in scope


class RequestBody:
    """The request body as it arrives, cut off when it is too large or too slow."""

    def __init__(
        self, scope: Scope, receive: Receive, max_bytes: int, deadline_seconds: float
    ) -> None:
        """`max_bytes` holds for strangers; `take_body_of_caller` says what does for callers."""
        self._scope = scope
        self._receive = receive
        self._max_bytes = max_bytes
        self._deadline_seconds = deadline_seconds
        self._size = 0
        self._deadline: float | None = None
        self.is_complete = False

    async def receive(self) -> Message:
        """The next message. Raises `PayloadTooLarge` or `BodyTooSlow`."""
        if self.is_complete:
            return await self._receive()
        max_bytes = self._scope.get(_MAX_BYTES, self._max_bytes)
        if not self._size and _declared(self._scope) > max_bytes:
            raise PayloadTooLarge(too_large(max_bytes))
        message = await self._next()
        if message["type"] != "http.request":
            return message
        self._size += len(message.get("body", b""))
        if self._size > max_bytes:
            raise PayloadTooLarge(too_large(max_bytes))
        self.is_complete = not message.get("more_body", False)
        return message

    async def _next(self) -> Message:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._deadline_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._receive()
        except TimeoutError:
            raise BodyTooSlow from None


def _declared(scope: Scope) -> int:
    """The length that the head declares; the edge has made sure that it is a number."""
    values = header_values(scope, b"content-length")
    return int(values[0][:20]) if values else 0


def too_large(max_bytes: int) -> str:
    """What the caller is told of a body that is larger than `max_bytes`."""
    return f"The request body is larger than {max_bytes} bytes."
