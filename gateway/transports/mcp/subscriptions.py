"""Subscriptions of MCP clients in the handshake revisions, and the stream for notifications.

Over HTTP they belong to a key and its session, and outlive the process. The stream from the server
to one session, which `GET` opens, carries the notifications: that a resource to which the session
has subscribed may have changed, and that the lists may have. None of them has contents, so a client
that missed one reads again. Over stdio they are those of the one host.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final, Protocol

from mcp.server import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from gateway.contract.values import jsontext
from gateway.errors import LimitExceeded, MethodNotAllowed
from gateway.events.cloudevents import LogPosition
from gateway.store.protocols import SubscriptionStore
from gateway.store.publishing import MAX_URIS, SubscribedSession
from gateway.transports.events import Followers, KeyWatch, StreamAnswer
from gateway.transports.http.asgi import ClientGone, Receive, Scope, Send
from gateway.transports.http.connected import while_connected
from gateway.transports.http.problems import log_failure
from gateway.transports.json_rpc import INVALID_REQUEST
from gateway.transports.mcp.answers import EVENT, PING_SECONDS
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.errors import resource
from gateway.transports.mcp.events import (
    EVENTS_URI,
    PAUSE_SECONDS,
    EventResource,
    lists_of,
    wait_for_change,
)
from gateway.transports.mcp.requests import CallerOf, Context, answering
from gateway.transports.mcp.resources import OfferedResources
from gateway.transports.mcp.tools import Tools


class Subscribing(Protocol):
    """The subscriptions of the clients of one transport."""

    lists_change: bool
    """Whether these clients are also notified of changes of lists."""

    def require_session(self, caller: Caller) -> None:
        """Raise `MCPError` for a client that cannot subscribe, because nothing names it."""
        ...

    async def add(self, ctx: Context, caller: Caller, uri: str) -> None:
        """Notify the client of changes of `uri` from now on. Raises `LimitExceeded`."""
        ...

    async def remove(self, caller: Caller, uri: str) -> None:
        """Notify it no more. Does nothing if it has not subscribed to `uri`."""
        ...


def full() -> LimitExceeded:
    """The error of a client that has as many subscriptions as one may have."""
    detail = f"This session has {MAX_URIS} subscriptions: unsubscribe from one of them first."
    return LimitExceeded(detail)


def add_subscribing(
    server: Server[Any], resources: OfferedResources, caller_of: CallerOf, kept: Subscribing
) -> None:
    """Add both methods to `server`."""

    async def subscribe(ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        caller = await caller_of(ctx)
        kept.require_session(caller)
        async with resources.subscribing(caller, params.uri):
            await kept.add(ctx, caller, params.uri)
        return EmptyResult()

    async def unsubscribe(ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        caller = await caller_of(ctx)
        kept.require_session(caller)
        async with answering(caller, resource(params.uri)):
            await kept.remove(caller, params.uri)
        return EmptyResult()

    server.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)


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


class PipeSubscriptions:
    """The `Subscribing` of the host. Nothing but the events changes: the process never reloads."""

    lists_change = False

    def __init__(self, followers: Followers | None, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._followers = followers
        self._pause_seconds = pause_seconds
        self._uris: set[str] = set()
        self._notifying: asyncio.Task[None] | None = None

    def require_session(self, caller: Caller) -> None:
        """See `Subscribing`. The pipe is the session."""

    async def add(self, ctx: Context, caller: Caller, uri: str) -> None:
        """See `Subscribing`. Raises `StoreError` too."""
        if uri not in self._uris and len(self._uris) >= MAX_URIS:
            raise full()
        is_notified = self._notifying is not None and not self._notifying.done()
        if uri == EVENTS_URI and self._followers is not None and not is_notified:
            sent = await self._followers.feed.newest()
            await self._end_notifying()
            work = self._notify(self._followers, ctx.session, caller, sent)
            self._notifying = asyncio.create_task(work, name="notify-host")
        self._uris.add(uri)

    async def remove(self, caller: Caller, uri: str) -> None:  # noqa: ARG002 - the protocol's
        """See `Subscribing`."""
        self._uris.discard(uri)
        if uri == EVENTS_URI:
            await self._end_notifying()

    async def close(self) -> None:
        """Notify of nothing more."""
        await self._end_notifying()

    async def _end_notifying(self) -> None:
        task, self._notifying = self._notifying, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _notify(
        self, followers: Followers, host: ServerSession, caller: Caller, sent: LogPosition
    ) -> None:
        try:
            with followers.feed.seat(caller.principal.agent):
                while not followers.feed.is_closing:
                    changed, end = followers.feed.changed(), followers.feed.end
                    if end is not None and end.position > sent.position:
                        sent = end
                        await host.send_resource_updated(EVENTS_URI)
                        await asyncio.sleep(self._pause_seconds)
                    else:
                        await wait_for_change(changed)
        except Exception as error:  # noqa: BLE001 - the pipe is broken, and the server ends
            log_failure(error, caller.request_id)


SEEN_SECONDS: Final = 3600.0
"""How often a stream notes that its session is in use. Unused ones are forgotten after a day."""
_PING: Final = b": ping\r\n\r\n"
_UPDATED: Final = "notifications/resources/updated"


class SessionStreams:
    """The streams of the sessions that are open in this process."""

    def __init__(self, tools: Tools, followers: Followers, store: SubscriptionStore) -> None:
        if tools.offered is None:
            raise AssertionError("a gateway with events offers its resources")
        self.followers = followers
        self.store = store
        self.resources = OfferedResources(tools, tools.offered, EventResource(followers))
        lists = lists_of(tools.offered)
        self.lists = [f"notifications/{each.replace('_', '/', 1)}" for each in lists]
        """The methods of the notifications that lists have changed."""
        self.reading = SharedReading(store)
        self._turns: dict[SubscribedSession, list[_Turn]] = {}
        """The streams of each session, the newest last. It carries the messages."""

    async def serve(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one `GET` of a caller with a session, until its client leaves.

        It ends before when the gateway stops or is replaced. While the same session has a newer
        stream here, this one has pings alone: a message belongs on one stream only.
        """
        answer = StreamAnswer(send)
        try:
            await while_connected(self._follow(caller, answer), receive, scope)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - the head may be sent already
            await answer.fail(error, caller.request_id)

    async def _follow(self, caller: Caller, answer: StreamAnswer) -> None:
        session = session_of_caller(caller)
        if session is None:
            raise AssertionError("the endpoint requires a session")
        with self._turn(session) as turn, self._seat(caller):
            await _OpenStream(self, caller, session, turn, answer).run()
        await answer.end()

    @contextmanager
    def _seat(self, caller: Caller) -> Iterator[None]:
        """Hold a place. Without one there is no stream: clients ask again after 429, for ever."""
        with ExitStack() as held:
            try:
                held.enter_context(self.followers.feed.seat(caller.principal.agent))
            except LimitExceeded as error:
                raise MethodNotAllowed(error.detail) from None
            yield

    @contextmanager
    def _turn(self, session: SubscribedSession) -> Iterator["_Turn"]:
        """The turn of a stream. It has the messages until there is a newer one."""
        turns = self._turns.setdefault(session, [])
        turn = _Turn()
        turns.append(turn)
        self._pass_on(turns)
        try:
            yield turn
        finally:
            turns.remove(turn)
            self._pass_on(turns)
            if not turns:
                del self._turns[session]

    def _pass_on(self, turns: list["_Turn"]) -> None:
        for each in turns:
            each.change(is_newest=each is turns[-1])


class _Turn:
    """Whether a stream is the newest of its session."""

    def __init__(self) -> None:
        self.is_newest = True
        self._waiting: asyncio.Timeout | None = None

    async def wait(self, changed: asyncio.Event, until: float) -> None:
        """Wait for `changed`, but not longer than `until`, nor when `is_newest` changes."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until) as self._waiting:
                await changed.wait()
        self._waiting = None

    def change(self, *, is_newest: bool) -> None:
        """Another stream of the session was opened, or has ended."""
        if is_newest is self.is_newest:
            return
        self.is_newest = is_newest
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())


class _OpenStream:
    """One stream, and when it says what."""

    def __init__(
        self,
        streams: SessionStreams,
        caller: Caller,
        session: SubscribedSession,
        turn: _Turn,
        answer: StreamAnswer,
    ) -> None:
        self._streams = streams
        self._feed = streams.followers.feed
        self._caller = caller
        self._session = session
        self._turn = turn
        self._answer = answer
        self._watch: KeyWatch = streams.followers.watch(caller.credentials)
        self._now = asyncio.get_running_loop().time
        self._ping_at = self._now() + PING_SECONDS
        self._seen_at = self._now() + SEEN_SECONDS

    async def run(self) -> None:
        """Notify the client until the gateway serves it no more."""
        sent = await self._feed.newest()
        # At once, so that a proxy passes the head on.
        await self._answer.say(_PING)
        has_missed = True
        while not self._feed.is_closing:
            changed, end = self._feed.changed(), self._feed.end
            if self._turn.is_newest and has_missed:
                sent = end or sent
                await self._notify(await self._missed())
            has_missed = not self._turn.is_newest
            if self._turn.is_newest and end is not None and end.position > sent.position:
                sent = end
                await self._notify({EVENTS_URI}.intersection(await self._subscribed()))
                await asyncio.sleep(PAUSE_SECONDS)
            else:
                await self._turn.wait(changed, self._ping_at)
            await self._look_after()
        if self._feed.is_replaced and self._turn.is_newest:
            for method in self._streams.lists:
                await self._say({"method": method})
            await self._notify(await self._subscribed())

    async def _missed(self) -> Collection[str]:
        """What may have changed while the session had no stream: all to which it has subscribed."""
        uris = await self._subscribed()
        if uris:
            await self._streams.store.see(self._session)
        return uris

    async def _subscribed(self) -> Collection[str]:
        """The subscriptions to what the caller may see now. Those of other processes count."""
        uris = await self._streams.reading.of(self._session)
        announces = self._streams.resources.announces
        return [uri for uri in uris if announces(self._caller, uri)]

    async def _look_after(self) -> None:
        """Check the key, keep the connection, and keep the subscriptions, each in its time."""
        await self._watch.look()
        if self._now() >= self._ping_at:
            self._ping_at = self._now() + PING_SECONDS
            await self._answer.say(_PING)
        if self._now() >= self._seen_at:
            self._seen_at = self._now() + SEEN_SECONDS
            await self._streams.store.see(self._session)

    async def _notify(self, uris: Collection[str]) -> None:
        for uri in uris:
            await self._say({"method": _UPDATED, "params": {"uri": uri}})

    async def _say(self, message: dict[str, Any]) -> None:
        await self._answer.say(EVENT % jsontext.encode({"jsonrpc": "2.0", **message}))
