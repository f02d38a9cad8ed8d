"""Subscriptions over HTTP: they belong to a key and its session, and outlive the process."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.shared.exceptions import MCPError

from gateway.store.publishing import SubscribedSession, SubscriptionStore
from gateway.transports.json_rpc import INVALID_REQUEST
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.subscribing.methods import full
from gateway.transports.mcp.task_methods import Context


def session_of_caller(caller: Caller) -> SubscribedSession | None:
    """The session of a caller over HTTP. None if its request names none."""
    if caller.session is None:
        return None
    subject = caller.principal.subject
    return SubscribedSession(subject, caller.session, caller.connector or "")


class DurableSubscriptions:
    """The `Subscribing` of clients over HTTP."""

    lists_change = True

    def __init__(self, store: SubscriptionStore) -> None:
        self._store = store

    def require_session(self, caller: Caller) -> None:
        """See `Subscribing`."""
        _required(caller)

    async def add(self, ctx: Context, caller: Caller, uri: str) -> None:  # noqa: ARG002 - the protocol's
        """See `Subscribing`. Raises `StoreError` too."""
        if not await self._store.add(_required(caller), uri):
            raise full()

    async def remove(self, caller: Caller, uri: str) -> None:
        """See `Subscribing`. Raises `StoreError` too."""
        session = _required(caller)
        known = await self._store.of([session])
        # Any text may come here. Only one that was stored before is brought to the database.
        if uri in known.get(session, ()):
            await self._store.remove(session, uri)


class SharedReading:
    """Reads subscriptions. Streams that ask at the same time share one query.

    Each new event wakes all streams, and each of them asks.
    """

    def __init__(self, store: SubscriptionStore) -> None:
        self._store = store
        self._asked: set[SubscribedSession] = set()
        self._next: asyncio.Task[Mapping[SubscribedSession, Sequence[str]]] | None = None

    async def of(self, session: SubscribedSession) -> Sequence[str]:
        """The URIs of a session, as they are after this was called. Raises `StoreError`."""
        self._asked.add(session)
        if self._next is None:
            self._next = asyncio.create_task(self._read())
            self._next.add_done_callback(_read_error)
        # A stream that ends must not cancel the query of the others.
        found = await asyncio.shield(self._next)
        return found.get(session, ())

    async def _read(self) -> Mapping[SubscribedSession, Sequence[str]]:
        asked, self._asked, self._next = self._asked, set(), None
        return await self._store.of(asked)


def _read_error(reading: asyncio.Task[Any]) -> None:
    """Or asyncio logs it when every stream that waited has ended."""
    if not reading.cancelled():
        reading.exception()


def _required(caller: Caller) -> SubscribedSession:
    session = session_of_caller(caller)
    if session is None:
        detail = "A subscription needs the Mcp-Session-Id of `initialize`"
        raise MCPError(INVALID_REQUEST, detail)
    return session
