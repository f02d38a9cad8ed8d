"""The stream from the server to one session, which `GET` opens in the handshake revisions.

It carries notifications: that a resource to which the session has subscribed may have changed, and
that the lists may have. None of them has contents, so a client that missed one reads again.
"""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

from gateway.contract.values import jsontext
from gateway.errors import LimitExceeded, MethodNotAllowed
from gateway.store.publishing import SubscribedSession, SubscriptionStore
from gateway.transports.events import Followers, KeyWatch, StreamAnswer
from gateway.transports.http.asgi import ClientGone, Receive, Scope, Send
from gateway.transports.http.connected import while_connected
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.offered.events import EVENTS_URI, PAUSE_SECONDS, EventResource, lists_of
from gateway.transports.mcp.offered.resources import OfferedResources
from gateway.transports.mcp.outgoing.keep_alive import PING_SECONDS
from gateway.transports.mcp.outgoing.media_types import EVENT
from gateway.transports.mcp.subscribing.durable import SharedReading, session_of_caller
from gateway.transports.mcp.tools import Tools

SEEN_SECONDS: Final = 3600.0
"""How often a stream notes that its session is in use. Unused ones are forgotten after a day."""
_PING: Final = b": ping\r\n\r\n"
_UPDATED: Final = "notifications/resources/updated"


class SessionStreams:
    """The streams of the sessions that are open in this process."""

    def __init__(
        self,
        tools: Tools,
        followers: Followers,
        store: SubscriptionStore,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`pause_seconds`: the time between two notifications of events on one stream."""
        if tools.offered is None:
            raise AssertionError("a gateway with events offers its resources")
        self.followers = followers
        self.store = store
        self.resources = OfferedResources(tools, tools.offered, EventResource(followers))
        lists = lists_of(tools.offered)
        self.lists = [f"notifications/{each.replace('_', '/', 1)}" for each in lists]
        """The methods of the notifications that lists have changed."""
        self.reading = SharedReading(store)
        self.pause_seconds = pause_seconds
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
                await asyncio.sleep(self._streams.pause_seconds)
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
