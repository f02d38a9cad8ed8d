"""How many messages a peer and a source may send: token buckets, in bounded memory."""

from collections import OrderedDict
from collections.abc import Hashable
from ipaddress import IPv4Address
from typing import Final

from gateway.clock import Clock
from gateway.contract.webhook import SourceRate
from gateway.webhooks.peers import Address

_MAX_PEERS: Final = 10_000
"""Beyond this the peers that were silent for longest are forgotten: their buckets are full again
soon anyway, and an attacker with more addresses than that is not held by any of them."""
_IPV6_HOST_BITS: Final = 64
"""Who holds an IPv6 address holds its /64."""


class Bucket:
    """A token bucket. Times are readings of a monotonic clock in seconds."""

    __slots__ = ("_at", "_level", "_rate")

    def __init__(self, rate: SourceRate, now: float) -> None:
        self._rate = rate
        self._level = float(rate.burst)
        self._at = now

    def wait_seconds(self, now: float) -> float:
        """How long it takes until there is a token; 0 where there is one."""
        refilled = self._level + max(0.0, now - self._at) * self._rate.per_second
        self._level, self._at = min(refilled, float(self._rate.burst)), now
        return max(0.0, 1.0 - self._level) / self._rate.per_second

    def take(self, now: float) -> float:
        """Take a token if there is one; else how long it takes until there is."""
        wait = self.wait_seconds(now)
        if not wait:
            self._level -= 1.0
        return wait


class PeerBuckets:
    """One bucket for each peer: an IPv4 address or an IPv6 /64, or all whom nobody can tell."""

    def __init__(self, rate: SourceRate, clock: Clock, max_peers: int = _MAX_PEERS) -> None:
        self._rate = rate
        self._clock = clock
        self._max_peers = max_peers
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()

    def take(self, peer: Address | None) -> float:
        """Take a token of `peer`'s if there is one; else how long it takes until there is."""
        now = self._clock.monotonic()
        key = _key(peer)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, now)
            if len(self._buckets) > self._max_peers:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket.take(now)

    def __len__(self) -> int:
        return len(self._buckets)


def _key(peer: Address | None) -> Hashable:
    if peer is None or isinstance(peer, IPv4Address):
        return peer
    return int(peer) >> _IPV6_HOST_BITS
