"""Token buckets: a single one, or one for each host."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, Protocol

from msgspec import Struct

from gateway.clock import Clock
from gateway.limits.addresses import Address, group_of

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
