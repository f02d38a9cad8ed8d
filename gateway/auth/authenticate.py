"""From a presented key to a principal."""

import hmac
from typing import Final

from msgspec import Struct

from gateway.auth.keys import LONGEST_KEY, digest_of
from gateway.auth.principal import Credentials, Principal
from gateway.clock import Clock
from gateway.errors import InternalError, StoreError, Unauthenticated
from gateway.limits.addresses import Address
from gateway.limits.buckets import Rate
from gateway.limits.throttle import Throttle, ThrottleLimits
from gateway.store.protocols import AgentKey, KeyStore

TTL_SECONDS: Final = 5.0
"""How long a decision is remembered: a key revoked by another process is refused within it."""
MAX_REMEMBERED: Final = 4096


_UNLIMITED: Final = ThrottleLimits(of_one_host=Rate(1e9, 10**9), in_all=Rate(1e9, 10**9))


class _Decision(Struct, frozen=True):
    principal: Principal | None
    until: float


class Authenticator:
    """Identifies callers by their agent keys."""

    def __init__(self, keys: KeyStore, clock: Clock, throttle: Throttle | None = None) -> None:
        """`throttle` counts requests without a valid key; without it, there is no limit."""
        self._keys = keys
        self.throttle = throttle or Throttle(clock, _UNLIMITED)
        self._clock = clock
        # Apart from each other, so that a flood of wrong keys does not evict the right ones.
        self._known: dict[str, _Decision] = {}
        self._unknown: dict[str, _Decision] = {}
        self._generation = 0

    async def identify(self, credentials: Credentials) -> Principal:
        """The principal whose key was presented.

        Raises `Unauthenticated` when there is no key, or it is unknown or revoked (which look the
        same), `LimitExceeded` when too many such requests came from there, and `InternalError` when
        it cannot be found out. A key that was valid before is looked at whatever came from there.
        """
        if not credentials.bearer:
            await self.throttle.count(credentials.peer)
            raise Unauthenticated(presented=credentials.bearer is not None)
        digest = digest_of(credentials.bearer[: LONGEST_KEY + 1])
        decision = self._known.get(digest)
        if decision is None:
            return await self._introduce(digest, credentials.peer)
        if decision.until <= self._clock.monotonic():
            decision = await self._decide(digest)
        return _proven(decision)

    async def _introduce(self, digest: str, peer: Address | None) -> Principal:
        """The principal of a key that was not valid before; each one that is not counts."""
        # Before the database is asked: guessing must not cost it anything.
        await self.throttle.count(peer)
        decision = self._unknown.get(digest)
        if decision is None or decision.until <= self._clock.monotonic():
            decision = await self._decide(digest)
        principal = _proven(decision)
        self.throttle.give_back(peer)
        return principal

    def invalidate(self) -> None:
        """Decide again from now on: called when a key is made or revoked in this process."""
        self._generation += 1
        self._known.clear()
        self._unknown.clear()

    async def _decide(self, digest: str) -> _Decision:
        generation = self._generation
        try:
            key = await self._keys.find(digest)
        except StoreError as error:
            raise InternalError("The key could not be checked.") from error
        decision = _Decision(_principal(key, digest), self._clock.monotonic() + TTL_SECONDS)
        # A key revoked while it was being looked up must not be remembered as it was before.
        if generation == self._generation:
            self._remember(digest, decision)
        return decision

    def _remember(self, digest: str, decision: _Decision) -> None:
        self._known.pop(digest, None)
        self._unknown.pop(digest, None)
        memory = self._unknown if decision.principal is None else self._known
        if len(memory) >= MAX_REMEMBERED:
            del memory[next(iter(memory))]
        memory[digest] = decision


def _proven(decision: _Decision) -> Principal:
    if decision.principal is None:
        raise Unauthenticated(presented=True)
    return decision.principal


def _principal(key: AgentKey | None, digest: str) -> Principal | None:
    if key is None or key.revoked_at is not None:
        return None
    # The store compared already, in a way whose timing is not its promise.
    if not hmac.compare_digest(key.digest, digest):
        return None
    return Principal(subject=key.id, agent=key.agent)
