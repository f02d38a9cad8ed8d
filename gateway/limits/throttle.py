"""How many requests hosts may send that show no valid key: by address, and in all."""

import asyncio
from typing import Final

from msgspec import Struct

from gateway.clock import Clock
from gateway.errors import LimitExceeded
from gateway.limits.addresses import Address
from gateway.limits.buckets import Bucket, PeerBuckets, Rate
from gateway.limits.spread import Spread

_DETAIL: Final = "Too many requests without a valid key came from this address: try again later."


class ThrottleLimits(Struct, frozen=True, kw_only=True):
    """How many requests without a valid key are served, and how long others wait."""

    of_one_host: Rate = Rate(50, 500)
    in_all: Rate = Rate(500, 5000)
    delay_seconds: float = 2.0
    """How long a request beyond the limit waits for its refusal at least, so that a host that sends
    the next one after each answer is slowed down."""
    apart_seconds: float = 0.005
    """Between two such refusals."""
    max_delayed: int = 1000
    """Requests that wait at once; more are refused without delay."""


class Throttle:
    """Counts requests that show no valid key, slows their senders down, and refuses what is too
    much. Requests with a valid key are never counted."""

    def __init__(self, clock: Clock, limits: ThrottleLimits | None = None) -> None:
        self._limits = limits or ThrottleLimits()
        self._clock = clock
        self._of_host = PeerBuckets(self._limits.of_one_host, clock)
        self._in_all = Bucket(self._limits.in_all, clock.monotonic())
        self._due = _spread(self._limits)
        self._delayed = 0

    async def count(self, peer: Address | None, *, in_all: bool = True) -> None:
        """Count a request of `peer`'s. Raises `LimitExceeded`, late, when it is one too many.

        Without `in_all`, only what `peer` itself sends counts: nobody else can use it up.
        """
        wait = self._take(peer, in_all=in_all)
        if wait:
            await self._delay()
            raise LimitExceeded(_DETAIL, retry_after_seconds=wait)

    async def slow(self, peer: Address | None) -> None:
        """Count a request that is refused already; when it is one too many, return late."""
        if self._take(peer, in_all=True):
            await self._delay()

    def give_back(self, peer: Address | None) -> None:
        """Take back the last count of `peer`'s: its key was valid."""
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
