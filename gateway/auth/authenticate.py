"""Identifies callers by their keys."""

import asyncio
import hmac
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.auth.errors import KeyNotChecked
from gateway.auth.keys import LONGEST_KEY, digest_of
from gateway.auth.principal import Credentials, Principal
from gateway.clock import Clock
from gateway.errors import StoreError, Unauthenticated
from gateway.limits.addresses import Address
from gateway.limits.buckets import Rate
from gateway.limits.throttle import Throttle, ThrottleLimits
from gateway.store.protocols import AgentKey, KeyStore

TTL_SECONDS: Final = 5.0
"""How long a decision is cached. A key that another process revokes is valid here for this long."""
_REFRESH_SECONDS: Final = TTL_SECONDS / 2
"""After this time, the next request has the key looked up again, and does not wait for it."""
_RETRY_SECONDS: Final = 1.0
"""When a lookup that failed is repeated, while the decision before it holds."""
MAX_REMEMBERED: Final = 4096
"""The most cached decisions about valid keys, and the most about invalid keys."""

_UNLIMITED: Final = ThrottleLimits(of_one_host=Rate(1e9, 10**9), in_all=Rate(1e9, 10**9))


class _Decision(Struct):
    principal: Principal | None
    until: float
    refresh_at: float


_Lookup: TypeAlias = "asyncio.Task[_Decision]"


class Authenticator:
    """Identifies callers by their agent keys."""

    def __init__(self, keys: KeyStore, clock: Clock, throttle: Throttle | None = None) -> None:
        """`throttle` limits requests without a valid key. If it is None, there is no limit."""
        self._keys = keys
        self.throttle = throttle or Throttle(clock, _UNLIMITED)
        self._clock = clock
        # Separate caches, so that a flood of invalid keys does not evict the valid ones.
        self._valid: dict[str, _Decision] = {}
        self._invalid: dict[str, _Decision] = {}
        self._lookups: dict[str, _Lookup] = {}
        """Those under way, at most one of each key. All who need a decision wait for the same."""
        self._generation = 0

    async def identify(self, credentials: Credentials) -> Principal:
        """The principal of the presented key.

        Raises `Unauthenticated` if there is no key, or if it is unknown or revoked (the error is
        the same), `LimitExceeded` after too many requests without a valid key, and `KeyNotChecked`
        if the store does not answer. The limit does not apply to a key that was valid before.
        """
        if not credentials.bearer:
            await self.throttle.count(credentials.peer)
            raise Unauthenticated(presented=credentials.bearer is not None)
        digest = digest_of(credentials.bearer[: LONGEST_KEY + 1])
        decision = self._valid.get(digest)
        if decision is None:
            return await self._identify_new(digest, credentials.peer)
        now = self._clock.monotonic()
        if decision.until <= now:
            decision = await asyncio.shield(self._look_up(digest))
        elif decision.refresh_at <= now:
            decision.refresh_at = now + _RETRY_SECONDS
            self._look_up(digest)
        return _proven(decision)

    async def _identify_new(self, digest: str, peer: Address | None) -> Principal:
        """The principal of a key that was not valid before. Invalid keys count for the limit."""
        if (lookup := self._lookups.get(digest)) is not None:
            decision = await asyncio.shield(lookup)
            if decision.principal is None:
                await self.throttle.count(peer)
            return _proven(decision)
        # Before the query: beyond the limit, guessed keys must not reach the database.
        await self.throttle.count(peer)
        known = self._invalid.get(digest)
        if known is not None and known.until > self._clock.monotonic():
            return _proven(known)
        lookup = self._look_up(digest)
        # By the lookup, since the client may leave before its end.
        lookup.add_done_callback(partial(self._give_back, peer))
        return _proven(await asyncio.shield(lookup))

    def _give_back(self, peer: Address | None, lookup: _Lookup) -> None:
        """Undo the count of `peer`, unless its key has turned out to be invalid."""
        has_failed = lookup.cancelled() or lookup.exception() is not None
        if has_failed or lookup.result().principal is not None:
            self.throttle.give_back(peer)

    def invalidate(self) -> None:
        """Discard all decisions. Called when this process creates or revokes a key."""
        self._generation += 1
        self._valid.clear()
        self._invalid.clear()
        self._lookups.clear()

    def _look_up(self, digest: str) -> _Lookup:
        """The lookup that is under way, or a new one. It is not cancelled with a caller."""
        lookup = self._lookups.get(digest)
        if lookup is None:
            lookup = self._lookups[digest] = asyncio.create_task(self._decide(digest), name="key")
            lookup.add_done_callback(partial(self._end, digest))
        return lookup

    def _end(self, digest: str, lookup: _Lookup) -> None:
        if self._lookups.get(digest) is lookup:
            del self._lookups[digest]
        if not lookup.cancelled():
            # Read the exception, or asyncio logs it when nobody waits for it.
            lookup.exception()

    async def _decide(self, digest: str) -> _Decision:
        generation = self._generation
        try:
            key = await self._keys.find(digest)
        except StoreError as error:
            raise KeyNotChecked from error
        now = self._clock.monotonic()
        decision = _Decision(_principal(key, digest), now + TTL_SECONDS, now + _REFRESH_SECONDS)
        # If a key was revoked during the lookup, the decision may be outdated.
        if generation == self._generation:
            self._remember(digest, decision)
        return decision

    def _remember(self, digest: str, decision: _Decision) -> None:
        self._valid.pop(digest, None)
        self._invalid.pop(digest, None)
        cache = self._invalid if decision.principal is None else self._valid
        if len(cache) >= MAX_REMEMBERED:
            del cache[next(iter(cache))]
        cache[digest] = decision


def _proven(decision: _Decision) -> Principal:
    if decision.principal is None:
        raise Unauthenticated(presented=True)
    return decision.principal


def _principal(key: AgentKey | None, digest: str) -> Principal | None:
    if key is None or key.revoked_at is not None:
        return None
    # The store compared the digests too, but not necessarily in constant time.
    if not hmac.compare_digest(key.digest, digest):
        return None
    return Principal(subject=key.id, agent=key.agent)
