"""Calls under way that their own client can cancel by `notifications/cancelled` (HTTP, handshake).

In those revisions a message names the request that it cancels by an id that the client chose, and
every client counts from one. So a call is found by the key that made it, the session that the
gateway named in the answer to `initialize`, and that id: a client that shares the key with another
one has its own session, and cannot guess the other's.
"""

import asyncio
import secrets
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from msgspec import Struct

from gateway.transports.http.asgi import Scope, header_values

SESSION_HEADER: Final = b"mcp-session-id"
MAX_CALLS: Final = 4096
"""Calls that can be cancelled at the same time. More run, and cannot be cancelled."""
_MAX_LENGTH: Final = 128
"""Characters of a session id, and of a request id that is text."""


class CalledOff(Exception):
    """The client has cancelled the call, and nobody waits for its result."""


class CallKey(Struct, frozen=True, kw_only=True):
    """Which call of which client."""

    subject: str
    """The key that made the call."""
    session: str
    request: int | str


def new_session() -> bytes:
    """A session id for the answer to `initialize`: 128 bits that nobody can guess."""
    return secrets.token_hex(16).encode("ascii")


def session_of(scope: Scope) -> str | None:
    """The session that a request names, None when it names none.

    Any name of up to 128 bytes passes: together with a caller's key, it finds that caller's own
    calls alone. One that we never gave out was at worst made up by its own client.
    """
    values = header_values(scope, SESSION_HEADER)
    if len(values) != 1 or not 0 < len(values[0]) <= _MAX_LENGTH:
        return None
    return values[0].decode("latin-1")


def call_key(subject: str, session: str | None, request: int | str | None) -> CallKey | None:
    """The key under which a call can be cancelled, None for one that cannot be."""
    is_too_long = isinstance(request, str) and len(request) > _MAX_LENGTH
    if session is None or request is None or is_too_long:
        return None
    return CallKey(subject=subject, session=session, request=request)


class CallsUnderWay:
    """The calls of this process that can be cancelled."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, _Call] = {}

    def cancellable(self, key: CallKey | None) -> AbstractContextManager[None]:
        """The block can be cancelled by `key`; it then raises `CalledOff`.

        A block without a key, or one too many, cannot be cancelled.
        """
        return _Call(self._calls, key if len(self._calls) < MAX_CALLS else None)

    def cancel(self, key: CallKey | None) -> None:
        """Cancel the call with this key. Nothing happens when there is none, or it has ended."""
        call = None if key is None else self._calls.get(key)
        if call is not None:
            call.call_off()


class _Call(AbstractContextManager[None]):
    """One call, for as long as it can be cancelled."""

    def __init__(self, calls: "dict[CallKey, _Call]", key: CallKey | None) -> None:
        self._calls = calls
        self._key = key
        self._task: asyncio.Task[object] | None = None
        self._is_called_off = False

    def call_off(self) -> None:
        """Cancel it, once."""
        if self._task is not None and not self._is_called_off:
            self._is_called_off = self._task.cancel()

    def __enter__(self) -> None:
        if self._key is not None:
            self._task = asyncio.current_task()
            self._calls[self._key] = self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A client that uses an id twice at once can cancel the later call only.
        if self._key is not None and self._calls.get(self._key) is self:
            del self._calls[self._key]
        if self._task is None or not self._is_called_off:
            return
        is_only_cause = self._task.uncancel() == 0
        if is_only_cause and isinstance(error, asyncio.CancelledError):
            raise CalledOff from None
