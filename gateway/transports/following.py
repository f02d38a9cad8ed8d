"""Admits followers of the events for all transports: key, grant, audit record, limits."""

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
from gateway.store.publishing import SubscriptionStore
from gateway.transports.http.credentials import authenticate
from gateway.transports.http.peers import Sender

RECHECK_SECONDS: Final = 15.0
"""How long a stream may go on after its key was revoked. The authenticator's cache adds to this."""


class Asked(Struct, frozen=True, kw_only=True):
    """A request to see events, as a transport read it. Its audit record is made from this."""

    credentials: Credentials
    transport: Literal["rest", "mcp", "stdio"]
    request_id: str
    sender: Sender = field(default_factory=lambda: Sender(None))
    """The sender of the request. The default is for transports that authenticated their caller
    before."""
    operation_id: str = EVENTS


class Followers:
    """Admits followers of the events."""

    def __init__(
        self,
        feed: Feed,
        identification: Identification,
        policy: Policy,
        audit: AuditLog,
        subscriptions: SubscriptionStore | None = None,
    ) -> None:
        self.feed = feed
        self.subscriptions = subscriptions
        """Where the subscriptions of MCP sessions are kept. None: there are no such sessions."""
        self._identification = identification
        self._policy = policy
        self._audit = audit

    @asynccontextmanager
    async def admit(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """Hold a place among the followers until the block ends.

        Raises what `authenticate` raises, and `LimitExceeded` or `Stopping` when there is no place.
        """
        with ExitStack() as held:
            async with self.authenticate(asked, refusal) as principal:
                held.enter_context(self.feed.seat(principal.agent))
            yield principal

    @asynccontextmanager
    async def authenticate(
        self, asked: Asked, refusal: CallerError | None = None
    ) -> AsyncIterator[Principal]:
        """The caller, who is authenticated and may see the events. Writes one audit record, with
        the outcome of the block.

        `refusal` is why the request cannot be read. Raises, in this order: `Unauthenticated`,
        `refusal`, and `UnknownOperation` for a caller without the grant, as for a tool.
        """
        async with self._audit.open(asked) as record:
            principal = await authenticate(self._identification, asked.credentials, asked.sender)
            record.principal = principal
            if refusal is not None:
                raise refusal
            if not self.may_see(principal):
                raise UnknownOperation("There are no events here, or this key may not follow them.")
            yield principal

    def watch(self, credentials: Credentials) -> "KeyWatch":
        """Checks that the key stays valid during a stream."""
        return KeyWatch(self._identification, credentials)

    def may_see(self, principal: Principal) -> bool:
        """Whether the events exist for this caller."""
        return self._policy.allows(principal.agent, EVENTS)


class KeyWatch:
    """Checks the key of a stream from time to time."""

    def __init__(self, identification: Identification, credentials: Credentials) -> None:
        self._identification = identification
        self._credentials = credentials
        self._now = asyncio.get_running_loop().time
        self._due = self._now() + RECHECK_SECONDS

    async def look(self) -> None:
        """Raise `Unauthenticated` if the key was revoked. Checks once per `RECHECK_SECONDS`."""
        if self._now() >= self._due:
            await self._identification.identify(self._credentials)
            self._due = self._now() + RECHECK_SECONDS
