"""The bodies of requests: how large they may be, and how they are read."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gateway.bounds.addresses import group_of
from gateway.bounds.shares import BodyCharge
from gateway.catalogue import Entry
from gateway.errors import GatewayError, PayloadTooLarge
from gateway.transports.errors import NoRoomForBody, RequestTooSlow
from gateway.transports.http.asgi import Message, Receive, Scope, header_values
from gateway.transports.http.senders import Sender

LARGEST_BYTES: Final = 64 * 2**20
"""The default of `largest`. The document of a vendor may allow texts and files of any length."""


def body_limits(
    entries: Iterable[Entry], usual: int, largest: int = LARGEST_BYTES
) -> dict[str, int]:
    """The limits that are above `usual`: operation id to bytes.

    An operation is in it if its arguments may hold a text longer than `usual`. Its limit is the
    longest text of the input schema plus `usual`, which has room for all other arguments. If a
    contract has several long texts, their sum must fit this limit too. No limit is above
    `largest`, unless `usual` is.
    """
    longest = {entry.id: entry.longest_text for entry in entries}
    most = max(usual, largest)
    return {name: min(usual + length, most) for name, length in longest.items() if length > usual}


def largest_body(limits: Mapping[str, int], usual: int, may_call: Callable[[str], bool]) -> int:
    """The largest body, in bytes, that a caller may send to the operations it `may_call`.

    It is used where the body names the tool, so the tool is not known before the body is read.
    """
    granted = (size for name, size in limits.items() if may_call(name))
    return max((usual, *granted))


_CHARGE: Final = "gateway.body_charge"
_REFUSAL: Final = "gateway.body_refusal"
_ARRIVED: Final = "gateway.body_has_arrived"


def charge_body(scope: Scope, charge: BodyCharge) -> None:
    """Set `charge`, which counts the bytes of this request's body as they are read."""
    scope[_CHARGE] = charge


def refuse_body(scope: Scope, error: GatewayError) -> None:
    """Make the next read of this request's unfinished body raise `error`."""
    scope[_REFUSAL] = error


def note_arrival(scope: Scope) -> None:
    """Note that this request's body has arrived completely: reading it needs no deadline."""
    scope[_ARRIVED] = True


class RequestBody:
    """The request body as it arrives. Reading it fails when it is too large, too slow or broken."""

    def __init__(
        self,
        scope: Scope,
        sender: Sender,
        receive: Receive,
        max_bytes: int,
        deadline_seconds: float,
    ) -> None:
        """`max_bytes` is the limit for unauthenticated clients; `sender` has the others' limit."""
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

        Raises `PayloadTooLarge`, `RequestTooSlow`, `NoRoomForBody`, or the error that `refuse_body`
        set.
        """
        if self.is_complete:
            return await self._receive()
        max_bytes = self._sender.max_body_bytes or self._max_bytes
        if not self._size and _declared(self._scope) > max_bytes:
            raise self._too_large(max_bytes)
        message = await self._next()
        if message["type"] != "http.request":
            return message
        size = len(message.get("body", b""))
        self._size += size
        if self._size > max_bytes:
            raise self._too_large(max_bytes)
        if size:
            self._hold(size)
        self.is_complete = not message.get("more_body", False)
        if not self.is_complete and _REFUSAL in self._scope:
            raise self._scope[_REFUSAL]
        return message

    def _too_large(self, max_bytes: int) -> PayloadTooLarge:
        return PayloadTooLarge(too_large(max_bytes, self._sender.limit_source))

    def _hold(self, size: int) -> None:
        charge: BodyCharge | None = self._scope.get(_CHARGE)
        if charge is None:
            return
        sender = self._sender
        if not charge.take(size, group_of(sender.peer), is_authenticated=sender.is_authenticated):
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
    """The declared Content-Length, or 0. The edge has checked that it is a number."""
    values = header_values(scope, b"content-length")
    return int(values[0][:20]) if values else 0


def too_large(max_bytes: int, source: str) -> str:
    """The error for a body that is larger than `max_bytes`. `source` is what sets this limit."""
    return f"The request body is larger than {max_bytes} bytes, the limit of {source}."
