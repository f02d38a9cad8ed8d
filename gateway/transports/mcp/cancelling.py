"""Cancels running calls on `notifications/cancelled`, over HTTP in the handshake revisions.

In these revisions a message names the request to cancel by an id that its client chose, and every
client counts from one. So three values together identify a call: the key that made it, the session
from the answer to `initialize`, and this id. Clients that share a key have different sessions and
cannot guess those of the others.
"""

import asyncio
import secrets
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Final

from msgspec import Struct

from gateway.calls.call import Commitment
from gateway.contract.operation import Requirement
from gateway.contract.policies.questions import ASK_KINDS, AskKind
from gateway.profiles.clients import DEFAULT, PROFILES
from gateway.transports.http.asgi import Scope, header_values
from gateway.transports.mcp.protocol import NOTHING

SESSION_HEADER: Final = b"mcp-session-id"
MAX_CALLS: Final = 4096
"""The most running calls that can be cancelled. Calls above this run, but without cancellation."""
_PROFILE: Final = "."
_KINDS: Final = "~"
_KIND_OF: Final[Mapping[str, AskKind]] = {each[0]: each for each in sorted(ASK_KINDS)}
_MAX_LENGTH: Final = 128
"""The most characters of a session id, and of a request id that is a string."""


class CalledOff(Exception):
    """The client has cancelled the call and does not wait for its result."""


class CallKey(Struct, frozen=True, kw_only=True):
    """Identifies a call of a client."""

    subject: str
    """The key that made the call."""
    session: str
    request: int | str


def new_session(profile: str = DEFAULT, asks: Collection[Requirement] = ()) -> bytes:
    """A session id for the answer to `initialize`: 128 bits from a secure random source.

    It ends with the client's profile and what it can be asked, so that every process knows them
    without storing the session.
    """
    end = "" if profile == DEFAULT else f"{_PROFILE}{profile}"
    kinds = "".join(letter for letter, kind in _KIND_OF.items() if kind in asks)
    return f"{secrets.token_hex(16)}{end}{_KINDS if kinds else ''}{kinds}".encode("ascii")


def profile_of_session(session: str | None) -> str | None:
    """The client profile at the end of a session id. None if there is none.

    A client can choose its profile in this way. It only chooses how its tools are described.
    """
    end = "" if session is None else session.partition(_KINDS)[0].partition(_PROFILE)[2]
    return end if end in PROFILES else None


def asks_of_session(session: str | None) -> frozenset[Requirement]:
    """What the client of a session can be asked.

    A client can choose this in its next request. Then its own calls wait for answers in vain.
    """
    end = "" if session is None else session.partition(_KINDS)[2]
    if not end:
        return NOTHING
    return frozenset(kind for letter, kind in _KIND_OF.items() if letter in end)


def session_of(scope: Scope) -> str | None:
    """The session that a request names, or None.

    Any name of up to 128 bytes is valid, also one that the gateway never issued: together with the
    caller's key, it only finds calls of that caller.
    """
    values = header_values(scope, SESSION_HEADER)
    if len(values) != 1 or not 0 < len(values[0]) <= _MAX_LENGTH:
        return None
    return values[0].decode("latin-1")


def call_key(subject: str, session: str | None, request: int | str | None) -> CallKey | None:
    """The key to cancel a call by. None if the call cannot be cancelled."""
    is_too_long = isinstance(request, str) and len(request) > _MAX_LENGTH
    if session is None or request is None or is_too_long:
        return None
    return CallKey(subject=subject, session=session, request=request)


class CallsUnderWay:
    """The calls of this process that can be cancelled."""

    def __init__(self) -> None:
        self._calls: dict[CallKey, _Call] = {}

    def cancellable(
        self, key: CallKey | None, commitment: Commitment | None = None
    ) -> AbstractContextManager[None]:
        """A context manager. `cancel(key)` cancels its block, which then raises `CalledOff`.

        Without a key, when there are too many calls, or once the `commitment` is made, the block
        cannot be cancelled.
        """
        return _Call(self._calls, key if len(self._calls) < MAX_CALLS else None, commitment)

    def cancel(self, key: CallKey | None) -> None:
        """Cancel the call with this key. Does nothing if there is none or it has ended."""
        call = None if key is None else self._calls.get(key)
        if call is not None:
            call.call_off()


class _Call(AbstractContextManager[None]):
    """One call while it can be cancelled."""

    def __init__(
        self,
        calls: "dict[CallKey, _Call]",
        key: CallKey | None,
        commitment: Commitment | None,
    ) -> None:
        self._calls = calls
        self._key = key
        self._commitment = commitment
        self._task: asyncio.Task[object] | None = None
        self._is_called_off = False

    def call_off(self) -> None:
        """Cancel the call. Does nothing the second time, or once the call has begun a write."""
        if self._commitment is not None and self._commitment.is_made:
            return
        if self._task is not None and not self._is_called_off:
            self._is_called_off = self._task.cancel()

    def __enter__(self) -> None:
        if self._key is not None:
            self._task = asyncio.current_task()
            self._calls[self._key] = self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        # If a client uses an id for two calls at a time, only the later one can be cancelled.
        if self._key is not None and self._calls.get(self._key) is self:
            del self._calls[self._key]
        if self._task is None or not self._is_called_off:
            return
        is_only_cause = self._task.uncancel() == 0
        if is_only_cause and isinstance(error, asyncio.CancelledError):
            raise CalledOff from None
