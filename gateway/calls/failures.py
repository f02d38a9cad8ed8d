"""Failures of upstreams that are remembered for a while, where the contract says so."""

import copy
from collections import OrderedDict
from typing import Final

from msgspec import Struct

from gateway.clock import Clock
from gateway.errors import UpstreamError

MAX_FAILURES: Final = 1000
"""Requests whose failure is remembered; the oldest is forgotten first."""


class _Failure(Struct, frozen=True):
    error: UpstreamError
    until: float
    """By the monotonic clock."""


class Failures:
    """What has just failed, by request.

    A caller that has something else to use in place of the reply does not wait for the same failure
    again. When the time is up, one call asks the upstream, and the others go on as before.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, _Failure] = OrderedDict()

    def check(self, key: bytes, seconds: float) -> None:
        """Raises the `UpstreamError` that is remembered for `key`, unless its time is up."""
        known = self._known.get(key)
        if known is None:
            return
        if self._clock.monotonic() < known.until:
            raise copy.copy(known.error)
        self.remember(key, seconds, known.error)

    def remember(self, key: bytes, seconds: float, error: UpstreamError) -> None:
        """Raise `error` for so long."""
        # A copy has neither traceback nor causes: those hold the frames of the call that failed.
        until = self._clock.monotonic() + seconds
        self._known[key] = _Failure(copy.copy(error), until)
        self._known.move_to_end(key)
        if len(self._known) > MAX_FAILURES:
            self._known.popitem(last=False)

    def forget(self, key: bytes) -> None:
        """It has succeeded."""
        self._known.pop(key, None)
