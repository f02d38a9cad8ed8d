"""The body of one request: how much of it is read, how long that may take, and whose it is."""

import asyncio
from typing import Final

from gateway.errors import GatewayError, PayloadTooLarge
from gateway.limits.addresses import group_of
from gateway.limits.budgets import BodyCharge
from gateway.transports.http.asgi import Message, Receive, Scope, header_values
from gateway.transports.http.peers import Sender
from gateway.transports.http.problem_kinds import NoRoomForBody, RequestTooSlow

_CHARGE: Final = "gateway.body_charge"
_REFUSAL: Final = "gateway.body_refusal"
_ARRIVED: Final = "gateway.body_has_arrived"


def charge_body(scope: Scope, charge: BodyCharge) -> None:
    """Let what is read of this request's body be held by `charge`."""
    scope[_CHARGE] = charge


def refuse_body(scope: Scope, error: GatewayError) -> None:
    """Raise `error` in the reader of the rest of this request's body."""
    scope[_REFUSAL] = error


def note_arrival(scope: Scope) -> None:
    """Report to the reader of this request's body that all of it has arrived: it need not wait."""
    scope[_ARRIVED] = True


class RequestBody:
    """The request body as it arrives, cut off when it is too large, too slow or broken."""

    def __init__(
        self,
        scope: Scope,
        sender: Sender,
        receive: Receive,
        max_bytes: int,
        deadline_seconds: float,
    ) -> None:
        """`max_bytes` holds for unauthenticated clients; for others, the `sender` has the limit."""
        self._scope = scope
        self._sender = sender
        self._receive = receive
        self._max_bytes = max_bytes
        self._deadline_seconds = deadline_seconds
        self._size = 0
        self._deadline: float | None = None
        self.is_complete = False

    async def receive(self) -> Message:
        """The next message.

        Raises `PayloadTooLarge`, `RequestTooSlow`, `NoRoomForBody`, and why the rest is not read.
        """
        if self.is_complete:
            return await self._receive()
        max_bytes = self._sender.max_body_bytes or self._max_bytes
        if not self._size and _declared(self._scope) > max_bytes:
            raise PayloadTooLarge(too_large(max_bytes))
        message = await self._next()
        if message["type"] != "http.request":
            return message
        size = len(message.get("body", b""))
        self._size += size
        if self._size > max_bytes:
            raise PayloadTooLarge(too_large(max_bytes))
        if size:
            self._hold(size)
        self.is_complete = not message.get("more_body", False)
        if not self.is_complete and _REFUSAL in self._scope:
            raise self._scope[_REFUSAL]
        return message

    def _hold(self, size: int) -> None:
        charge: BodyCharge | None = self._scope.get(_CHARGE)
        if charge is None:
            return
        sender = self._sender
        if not charge.hand_on(size, group_of(sender.peer), is_proven=sender.is_proven):
            raise NoRoomForBody

    async def _next(self) -> Message:
        if _ARRIVED in self._scope:
            return await self._receive()
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._deadline_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._receive()
        except TimeoutError:
            raise RequestTooSlow from None


def _declared(scope: Scope) -> int:
    """The length that the head declares; the edge has made sure that it is a number."""
    values = header_values(scope, b"content-length")
    return int(values[0][:20]) if values else 0


def too_large(max_bytes: int) -> str:
    """The error for a body that is larger than `max_bytes`."""
    return f"The request body is larger than {max_bytes} bytes."
