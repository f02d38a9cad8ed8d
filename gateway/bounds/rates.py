"""Rates at which hosts may do what needs no key: token buckets, and delayed refusals."""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Protocol

from msgspec import Struct

from gateway.bounds.addresses import Address, group_of
from gateway.clock import Clock
from gateway.errors import LimitExceeded

_MAX_PEERS: Final = 10_000
"""The most buckets. Beyond this, the least recently used one is discarded. It would soon be full
again, and no bucket limits an attacker who has more addresses than this."""


class RateLike(Protocol):
    """The interface of `Rate`."""

    @property
    def per_second(self) -> float: ...
    @property
    def burst(self) -> int: ...


class Rate(Struct, frozen=True):
    """A rate limit: `burst` at once, then `per_second`."""

    per_second: float
    burst: int


class Bucket:
    """A token bucket. Times are readings of a monotonic clock in seconds."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: RateLike, now: float) -> None:
        self._rate = rate
        self._level = float(rate.burst)
        self._at = now

    def wait_seconds(self, now: float) -> float:
        """Seconds until there is a token. 0 if there is one."""
        refilled = self._level + max(0.0, now - self._at) * self._rate.per_second
        self._level, self._at = min(refilled, float(self._rate.burst)), now
        return max(0.0, 1.0 - self._level) / self._rate.per_second

    def take(self, now: float, tokens: int = 1) -> float:
        """Take a token, and return 0. If there is none, return the seconds until there is one.

        With one token, several may be taken: the debt delays the next ones.
        """
        wait = self.wait_seconds(now)
        if not wait:
            self._level -= tokens
        return wait

    def give(self) -> None:
        """Put a token back."""
        self._level = min(self._level + 1.0, float(self._rate.burst))


class PeerBuckets:
    """One bucket for each host, as `group_of` defines it."""

    def __init__(self, rate: RateLike, clock: Clock, max_peers: int = _MAX_PEERS) -> None:
        self._rate = rate
        self._clock = clock
        self._max_peers = max_peers
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()

    def take(self, peer: Address | None) -> float:
        """Take a token of the host of `peer`. Returns the same as `Bucket.take`."""
        now = self._clock.monotonic()
        key = group_of(peer)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, now)
            if len(self._buckets) > self._max_peers:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket.take(now)

    def give(self, peer: Address | None) -> None:
        """Put back a token of the host of `peer`, if its bucket still exists."""
        bucket = self._buckets.get(group_of(peer))
        if bucket is not None:
            bucket.give()

    def __len__(self) -> int:
        return len(self._buckets)


class Spread:
    """Delays actions by `delay_seconds`, and keeps them `apart_seconds` from each other.

    Without this, requests that arrive together would be answered together after the delay, and all
    other requests would wait for that. Times are readings of a monotonic clock in seconds.
    """

    def __init__(self, delay_seconds: float, apart_seconds: float, longest_seconds: float) -> None:
        """No action is delayed by more than `longest_seconds`."""
        self._delay = delay_seconds
        self._apart = apart_seconds
        self._longest = longest_seconds
        self._last = 0.0

    def next(self, now: float) -> float:
        """The time for an action that arrives at `now`."""
        due = max(now + self._delay, self._last + self._apart)
        self._last = min(due, now + self._longest)
        return self._last


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
