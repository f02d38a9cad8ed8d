"""Identifies callers by their keys."""

import asyncio
import hmac
from functools import partial
from typing import Final, TypeAlias

from gateway.auth.keys import LONGEST_KEY, digest_of
from gateway.auth.principal import Credentials, KeyNotChecked, Principal
from gateway.bounds.addresses import Address
from gateway.bounds.rates import Rate, Throttle, ThrottleLimits
from gateway.clock import Clock
from gateway.errors import StoreError, Unauthenticated
from gateway.lookups import Known, Lookups
from gateway.store.protocols import AgentKey, KeyStore

TTL_SECONDS: Final = 5.0
"""How long a decision is cached. A key that another process revokes is valid here for this long."""
_REFRESH_SECONDS: Final = TTL_SECONDS / 2
"""After this time, the next request has the key looked up again, and does not wait for it."""
MAX_REMEMBERED: Final = 4096
"""The most cached decisions about valid keys, and the most about invalid keys."""

_UNLIMITED: Final = ThrottleLimits(of_one_host=Rate(1e9, 10**9), in_all=Rate(1e9, 10**9))


_Decision: TypeAlias = Known[Principal | None]
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
        self._lookups = Lookups(self._decide, clock, "key")
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
        return _proven(await self._lookups.current(digest, decision))

    async def _identify_new(self, digest: str, peer: Address | None) -> Principal:
        """The principal of a key that was not valid before. Invalid keys count for the limit."""
        if (lookup := self._lookups.under_way(digest)) is not None:
            decision = await self._lookups.result(lookup)
            if decision.value is None:
                await self.throttle.count(peer)
            return _proven(decision)
        # Before the query: beyond the limit, guessed keys must not reach the database.
        await self.throttle.count(peer)
        known = self._invalid.get(digest)
        if known is not None and known.until > self._clock.monotonic():
            return _proven(known)
        lookup = self._lookups.begin(digest)
        # By the lookup, since the client may leave before its end.
        lookup.add_done_callback(partial(self._give_back, peer))
        return _proven(await self._lookups.result(lookup))

    def _give_back(self, peer: Address | None, lookup: _Lookup) -> None:
        """Undo the count of `peer`, unless its key has turned out to be invalid."""
        has_failed = lookup.cancelled() or lookup.exception() is not None
        if has_failed or lookup.result().value is not None:
            self.throttle.give_back(peer)

    def invalidate(self) -> None:
        """Discard all decisions. Called when this process creates or revokes a key."""
        self._generation += 1
        self._valid.clear()
        self._invalid.clear()
        self._lookups.leave()

    async def _decide(self, digest: str) -> _Decision:
        generation = self._generation
        # The store may have read the key at any time since: a slow lookup must not prolong it.
        now = self._clock.monotonic()
        try:
            key = await self._keys.find(digest)
        except StoreError as error:
            raise KeyNotChecked from error
        decision = Known(_principal(key, digest), now + _REFRESH_SECONDS, now + TTL_SECONDS)
        # If a key was revoked during the lookup, the decision may be outdated.
        if generation == self._generation:
            self._remember(digest, decision)
        return decision

    def _remember(self, digest: str, decision: _Decision) -> None:
        self._valid.pop(digest, None)
        self._invalid.pop(digest, None)
        cache = self._invalid if decision.value is None else self._valid
        if len(cache) >= MAX_REMEMBERED:
            del cache[next(iter(cache))]
        cache[digest] = decision


def _proven(decision: _Decision) -> Principal:
    if decision.value is None:
        raise Unauthenticated(presented=True)
    return decision.value


def _principal(key: AgentKey | None, digest: str) -> Principal | None:
    if key is None or key.revoked_at is not None:
        return None
    # The store compared the digests too, but not necessarily in constant time.
    if not hmac.compare_digest(key.digest, digest):
        return None
    return Principal(subject=key.id, agent=key.agent)
