"""Who may follow the events, over every transport: authenticated, granted, recorded, limited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Final, Literal

from msgspec import Struct, field

from gateway.audit import AuditLog
from gateway.auth.authorize import Policy
from gateway.auth.principal import Credentials, Identification, Principal
from gateway.contract.credentials.scopes import EVENTS
from gateway.errors import CallerError, UnknownOperation
from gateway.events.feed import Feed
from gateway.transports.http.credentials import prove
from gateway.transports.http.peers import Sender

RECHECK_SECONDS: Final = 15.0
"""How long a stream outlives its key, besides what the authenticator remembers."""


class Asked(Struct, frozen=True, kw_only=True):
    """A wish to see events, as a transport read it: what its audit record is made of."""

    credentials: Credentials
    transport: Literal["rest", "mcp", "stdio"]
    request_id: str
    sender: Sender = field(default_factory=lambda: Sender(None))
    """Of the request; nobody's, where a transport has proven its caller before."""
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
        """A place among the followers, for as long as the block runs.

        Raises what `prove` raises, then `LimitExceeded` or `Stopping`.
        """
        with ExitStack() as held:
            async with self.prove(asked, refusal) as principal:
                held.enter_context(self.feed.seat(principal.agent))
            yield principal

    @asynccontextmanager
    async def prove(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """The caller, authenticated and granted; the one audit record says how the block ended.

        Raises `Unauthenticated`, then `refusal`, which is why the wish cannot be read, then
        `UnknownOperation`, as for a tool.
        """
        async with self._audit.open(asked) as record:
            principal = await prove(self._identification, asked.credentials, asked.sender)
            record.principal = principal
            if refusal is not None:
                raise refusal
            if not self.may_see(principal):
                raise UnknownOperation("There are no events here, or this key may not follow them.")
            yield principal

    def watch(self, credentials: Credentials) -> "KeyWatch":
        """Looks, while somebody follows, whether the key is still good."""
        return KeyWatch(self._identification, credentials)

    def may_see(self, principal: Principal) -> bool:
        """Whether the events exist for this caller."""
        return self._policy.allows(principal.agent, EVENTS)


class KeyWatch:
    """Whether the key of a stream is still good."""

    def __init__(self, identification: Identification, credentials: Credentials) -> None:
        self._identification = identification
        self._credentials = credentials
        self._now = asyncio.get_running_loop().time
        self._due = self._now() + RECHECK_SECONDS

    async def look(self) -> None:
        """Raise `Unauthenticated` when it was revoked. Looks every `RECHECK_SECONDS`, not more."""
        if self._now() >= self._due:
            await self._identification.identify(self._credentials)
            self._due = self._now() + RECHECK_SECONDS
