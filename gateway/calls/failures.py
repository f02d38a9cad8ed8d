"""Remembers failures of upstreams for a short time, where the contract says so."""

import copy
from collections import OrderedDict
from typing import Final

from msgspec import Struct

from gateway.clock import Clock
from gateway.errors import UpstreamError

MAX_FAILURES: Final = 1000
"""The largest number of remembered failures. The oldest is forgotten first."""


class _Failure(Struct, frozen=True):
    error: UpstreamError
    until: float
    """Seconds of the monotonic clock."""


class Failures:
    """Recent failures, by request.

    Calls get a remembered failure at once and do not wait for the upstream to fail again. They may
    have something to use in place of the reply. When the time is up, one call tries the upstream.
    Meanwhile the other calls get the remembered failure, for the same time at most.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, _Failure] = OrderedDict()

    def check(self, key: bytes, seconds: float) -> None:
        """Raise the `UpstreamError` that is remembered for `key`, unless its time is up.

        When its time is up, this call may try the upstream, and other calls get it for `seconds`
        more.
        """
        known = self._known.get(key)
        if known is None:
            return
        if self._clock.monotonic() < known.until:
            raise copy.copy(known.error)
        self.remember(key, seconds, known.error)

    def remember(self, key: bytes, seconds: float, error: UpstreamError) -> None:
        """Let `check` raise `error` for this many seconds."""
        # A copy has neither traceback nor causes: those hold the frames of the call that failed.
        until = self._clock.monotonic() + seconds
        self._known[key] = _Failure(copy.copy(error), until)
        self._known.move_to_end(key)
        if len(self._known) > MAX_FAILURES:
            self._known.popitem(last=False)

    def forget(self, key: bytes) -> None:
        """Remove the failure of `key`, because the request has succeeded."""
        self._known.pop(key, None)
