"""Delays the end of the input until the requests of the host are answered."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Protocol

from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from gateway.transports.mcp.server import ShieldedCalls

ANSWER_SECONDS: Final = 10.0
"""How long to wait for answers after the end of the input."""


class Outgoing(Protocol):
    """The stream of messages to the host."""

    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


class Unanswered:
    """The requests that were read and are not answered yet.

    When the input ends, the SDK stops and drops the running calls. But a host may close the pipe
    after its last request and still wait for the answers.
    """

    def __init__(self, shielded: ShieldedCalls) -> None:
        """`shielded`: the calls that have begun a write, also those that the host cancelled."""
        self._shielded = shielded
        self._waiting: Counter[RequestId] = Counter()
        self._is_none = asyncio.Event()
        self._is_none.set()

    async def reading(
        self, incoming: AsyncIterator[SessionMessage | Exception]
    ) -> AsyncIterator[SessionMessage | Exception]:
        """The messages of `incoming`. They end when all are answered, or after `ANSWER_SECONDS`."""
        try:
            async for item in incoming:
                if isinstance(item, SessionMessage):
                    self._note_read(item.message)
                yield item
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._is_none.wait()
                    await self._shielded.ended()
        finally:
            self._shielded.expose()

    def note_sent(self, message: Any) -> None:
        """Note that an answer was sent."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._drop(message.id)

    def _note_read(self, message: Any) -> None:
        match message:
            case JSONRPCRequest(id=request_id):
                self._waiting[coerce_request_id(request_id)] += 1
                self._is_none.clear()
            case JSONRPCNotification(
                method="notifications/cancelled",
                params={"requestId": int() | str() as request_id},
            ):
                # The protocol forbids an answer to a request that the host has cancelled.
                self._drop(request_id)

    def _drop(self, request_id: RequestId) -> None:
        key = coerce_request_id(request_id)
        if self._waiting[key] > 1:
            self._waiting[key] -= 1
        else:
            del self._waiting[key]
        if not self._waiting:
            self._is_none.set()


class NotedOutgoing:
    """An outgoing stream that notes the answers sent through it."""

    def __init__(self, inner: Outgoing, unanswered: Unanswered) -> None:
        self._inner = inner
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        self._unanswered.note_sent(item.message)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "NotedOutgoing":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
