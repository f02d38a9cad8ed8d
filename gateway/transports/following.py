"""Who may follow the events, at every door: proven, granted, recorded, and given a seat."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Literal

from msgspec import Struct

from gateway.audit import AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import Credentials, Identification, Principal
from gateway.contract.scopes import EVENTS
from gateway.errors import CallerError, UnknownOperation
from gateway.events.feed import Feed

RECHECK_SECONDS = 15.0
"""How long a stream outlives its key, besides what the authenticator remembers."""


class Asked(Struct, frozen=True, kw_only=True):
    """A wish to see events, as a transport read it: what its audit record is made of."""

    credentials: Credentials
    transport: Literal["rest", "mcp", "stdio"]
    request_id: str
    operation_id: str = EVENTS


class Followers:
    """Lets followers of the events in."""

    def __init__(
        self, feed: Feed, identification: Identification, policy: Policy, audit: AuditLog
    ) -> None:
        self.feed = feed
        self._identification = identification
        self._policy = policy
        self._audit = audit

    @asynccontextmanager
    async def admit(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """A seat for whoever asks, as long as it is held. One audit record is left.

        Raises `Unauthenticated`, then `refusal`, which is why the wish cannot be read, then
        `UnknownOperation`, as for a tool, then `LimitExceeded` or `Stopping`.
        """
        with ExitStack() as held:
            async with self._audit.open(asked) as record:
                principal = await self._identification.identify(asked.credentials)
                record.principal = principal
                if refusal is not None:
                    raise refusal
                self.require(principal)
                held.enter_context(self.feed.seat(principal.agent))
            yield principal

    async def recheck(self, credentials: Credentials) -> None:
        """Raise `Unauthenticated` when the key was revoked meanwhile."""
        await self._identification.identify(credentials)

    def may_see(self, principal: Principal) -> bool:
        """Whether the events exist for this caller."""
        return self._policy.allows(principal.agent, EVENTS)

    def require(self, principal: Principal) -> None:
        """Raise `UnknownOperation` for a caller for whom there are no events."""
        if not self.may_see(principal):
            raise UnknownOperation("There are no events here, or this key may not follow them.")
