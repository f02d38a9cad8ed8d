"""Limits requests without a valid key, for each host and in total."""

import asyncio
from typing import Final

from msgspec import Struct

from gateway.clock import Clock
from gateway.errors import LimitExceeded
from gateway.limits.addresses import Address
from gateway.limits.buckets import Bucket, PeerBuckets, Rate
from gateway.limits.spread import Spread

_DETAIL: Final = "There were too many requests without a valid key: try again later."


class ThrottleLimits(Struct, frozen=True, kw_only=True):
    """The limits of requests without a valid key, and the delays of refusals."""

    of_one_host: Rate = Rate(50, 500)
    in_all: Rate = Rate(500, 5000)
    delay_seconds: float = 2.0
    """The minimum delay of the refusal of a request beyond a limit. It slows down a host that waits
    for each answer before it sends the next request."""
    apart_seconds: float = 0.005
    """The minimum time between two delayed refusals."""
    max_delayed: int = 1000
    """The most refusals that are delayed at once. Further ones are sent without delay."""


class Throttle:
    """Counts requests without a valid key, and refuses those beyond the limits after a delay.

    Requests with a valid key are not counted.
    """

    def __init__(self, clock: Clock, limits: ThrottleLimits | None = None) -> None:
        self._limits = limits or ThrottleLimits()
        self._clock = clock
        self._of_host = PeerBuckets(self._limits.of_one_host, clock)
        self._in_all = Bucket(self._limits.in_all, clock.monotonic())
        self._due = _spread(self._limits)
        self._delayed = 0

    async def count(self, peer: Address | None, *, in_all: bool = True) -> None:
        """Count a request of `peer`. Beyond the limits, raises `LimitExceeded` after a delay.

        If `in_all` is false, only the limit of the host applies, which no other host can use up.
        """
        wait = self._take(peer, in_all=in_all)
        if wait:
            await self._delay()
            raise LimitExceeded(_DETAIL, retry_after_seconds=wait)

    async def slow(self, peer: Address | None) -> None:
        """Count a request that is refused anyway. Beyond the limits, return after a delay."""
        if self._take(peer, in_all=True):
            await self._delay()

    def give_back(self, peer: Address | None) -> None:
        """Undo the last count of `peer`, because its key was valid."""
        self._of_host.give(peer)
        self._in_all.give()

    def _take(self, peer: Address | None, *, in_all: bool) -> float:
        wait = self._of_host.take(peer)
        if not wait and in_all:
            wait = self._in_all.take(self._clock.monotonic())
        return wait

    async def _delay(self) -> None:
        if self._delayed >= self._limits.max_delayed:
            return
        self._delayed += 1
        try:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(self._due.next(now) - now)
        finally:
            self._delayed -= 1


def _spread(limits: ThrottleLimits) -> Spread:
    queue_seconds = limits.max_delayed * limits.apart_seconds
    return Spread(limits.delay_seconds, limits.apart_seconds, limits.delay_seconds + queue_seconds)
