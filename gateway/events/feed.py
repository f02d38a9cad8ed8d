"""The feed of events: gives them their positions, and shows the log to all followers.

One reader of the store reads the log for all followers. A follower has only a position in the log.
So a slow follower costs no memory, and one that reconnects goes on at its position. The stream of
one follower is Server-Sent Events (HTML Standard §9.2).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, Literal

from msgspec import Struct

from gateway.clock import Polls
from gateway.contract.values import jsontext
from gateway.errors import LimitExceeded, Stopping, StoreError
from gateway.events.cloudevents import LogPosition, TypeFilter, encode_event, position_in
from gateway.store.publishing import EventLog, looked_up_to
from gateway.store.records import StoredEvent

KEPT_EVENTS: Final = 1000
KEPT_BYTES: Final = 8 * 1024 * 1024
_log: Final = logging.getLogger(__name__)
KEEP_ALIVE_SECONDS: Final = 15.0
"""Shorter than the time after which proxies close a silent connection."""
RETRY_MILLISECONDS: Final = 2000
_CHUNK_BYTES: Final = 64 * 1024


class Published(Struct, frozen=True):
    """An event in its published form."""

    place: LogPosition
    type: str
    text: bytes
    """The CloudEvent as JSON, on one line."""


def as_published(event: StoredEvent) -> Published:
    """The event, encoded."""
    return Published(LogPosition(event.position, event.id), event.type, encode_event(event))


class RecentEvents:
    """The last part of the log, without gaps. Its number of events and bytes is limited."""

    def __init__(
        self, end: LogPosition, *, kept_events: int = KEPT_EVENTS, kept_bytes: int = KEPT_BYTES
    ) -> None:
        self.end = end
        """The position after the newest known event."""
        self._events: list[Published] = []
        self._bytes = 0
        self._kept_events = kept_events
        self._kept_bytes = kept_bytes

    @property
    def begin(self) -> int:
        """The position after which all events are here."""
        return self.end.position - len(self._events)

    def append(self, events: Sequence[StoredEvent]) -> None:
        """Add the next events. If some are missing in between, the older ones are dropped."""
        for event in events:
            if event.position != self.end.position + 1:
                self._events.clear()
                self._bytes = 0
            published = as_published(event)
            self._events.append(published)
            self._bytes += len(published.text)
            self.end = published.place
        self._trim()

    def since(self, position: int, limit: int) -> list[Published] | None:
        """At most `limit` events after `position`. None if they are no longer all here."""
        first = position - self.begin
        return None if first < 0 else self._events[first : first + limit]

    def _trim(self) -> None:
        """Remove the oldest half of the events at once, so that removing costs little."""
        while len(self._events) > self._kept_events or (
            self._bytes > self._kept_bytes and len(self._events) > 1
        ):
            cut = self._events[: (len(self._events) + 1) // 2]
            del self._events[: len(cut)]
            self._bytes -= sum(len(event.text) for event in cut)


class FeedLimits(Struct, frozen=True, kw_only=True):
    """Limits for followers."""

    poll_seconds: float = 0.25
    page: int = 200
    """How many events are read, or written to one follower, at a time."""
    followers: int = 500
    """The most followers. It is below the limit of connections, so that calls have room."""
    followers_of_one: int = 250
    """The most followers of one agent."""
    longest_backoff_seconds: float = 5.0


class Reset(Struct, frozen=True):
    """The follower's position is not in the log, so it continues from the oldest event."""

    reason: Literal["unknown", "expired"]
    """`unknown`: from another filter or log. `expired`: events after it were removed."""
    place: LogPosition
    """The position before the oldest event in the log."""


class FeedPage(Struct, frozen=True):
    """The events after a position, as far as they have been read."""

    events: tuple[Published, ...]
    place: LogPosition
    """Where to continue. It is also after events that the filter left out."""
    reset: Reset | None = None
    """There is a gap before `place`, and `events` is empty."""


class Feed:
    """Reads the log once for all followers, and notifies them when there is more."""

    def __init__(self, log: EventLog, limits: FeedLimits | None = None) -> None:
        self.limits = limits or FeedLimits()
        self._log = log
        self._followers: dict[str, int] = {}
        self._is_followed = asyncio.Event()
        self._woken = asyncio.Event()
        self._changed = asyncio.Event()
        self._recent: RecentEvents | None = None
        self.is_closing = False
        self.is_replaced = False
        """Whether it is closed because another gateway of this process serves now."""

    @property
    def followers(self) -> int:
        """The number of followers."""
        return sum(self._followers.values())

    def wake(self) -> None:
        """Read the log now, because this process has published events."""
        self._woken.set()

    def close(self, *, is_replaced: bool = False) -> None:
        """End all followers and accept no more, because the gateway stops or is replaced."""
        self.is_closing, self.is_replaced = True, is_replaced
        self._notify()

    @contextmanager
    def seat(self, agent: str) -> Iterator[None]:
        """Hold one of the places for followers. Raises `LimitExceeded` or `Stopping`."""
        if self.is_closing:
            raise Stopping
        held = self._followers.get(agent, 0)
        if held >= self.limits.followers_of_one or self.followers >= self.limits.followers:
            raise LimitExceeded("Too many streams of events are open.", retry_after_seconds=5)
        self._followers[agent] = held + 1
        self._is_followed.set()
        try:
            yield
        finally:
            self._leave(agent)

    def _leave(self, agent: str) -> None:
        self._followers[agent] -= 1
        if not self._followers[agent]:
            del self._followers[agent]
        if not self._followers:
            # The cached events would be stale when the next follower comes.
            self._is_followed.clear()
            self._recent = None

    def changed(self) -> asyncio.Event:
        """An event that is set when there are new events. Get it before you read."""
        return self._changed

    @property
    def end(self) -> LogPosition | None:
        """The position after the newest known event. None until the log has been read."""
        return None if self._recent is None else self._recent.end

    async def latest(self, count: int) -> list[Published]:
        """The newest events, oldest first. Raises `StoreError`."""
        _, newest = await self._log.bounds()
        return [as_published(event) for event in await self._log.after(newest - count, count)]

    async def newest(self) -> LogPosition:
        """The position after all events published so far. Raises `StoreError`."""
        _, newest = await self._log.bounds()
        return await self._place_at(newest)

    async def earliest(self) -> LogPosition:
        """The position before the oldest event in the log. Raises `StoreError`."""
        oldest, _ = await self._log.bounds()
        return LogPosition(oldest - 1)

    async def resume(self, cursor: str, wanted: TypeFilter) -> FeedPage:
        """The place of `cursor`, or a reset. Raises `StoreError`."""
        oldest, newest = await self._log.bounds()
        position = position_in(cursor)
        if position is None or position > newest:
            return _reset("unknown", oldest)
        if position < oldest - 1:
            return _reset("expired", oldest)
        place = LogPosition(position) if position < oldest else await self._place_at(position)
        return FeedPage((), place) if place.cursor(wanted) == cursor else _reset("unknown", oldest)

    async def since(self, place: LogPosition, wanted: TypeFilter) -> FeedPage:
        """The events after `place` now. Raises `StoreError`."""
        recent = self._recent
        found = recent.since(place.position, self.limits.page) if recent else None
        if found is None:
            return await self._read(place, wanted, recent.end if recent else None)
        events = tuple(event for event in found if wanted.admits(event.type))
        return FeedPage(events, found[-1].place if found else place)

    async def _read(
        self, place: LogPosition, wanted: TypeFilter, end: LogPosition | None
    ) -> FeedPage:
        """Events that only the store has. `end` was the end of the log before this call."""
        found = await self._log.after(place.position, self.limits.page, wanted.types)
        oldest, _ = await self._log.bounds()
        if oldest > place.position + 1:
            return _reset("expired", oldest)
        events = tuple(map(as_published, found))
        last = events[-1].place if events else place
        if len(found) < self.limits.page and end is not None and end.position > last.position:
            # Everything up to there was looked at, and the rest left out.
            looked_at = looked_up_to(place.position, (oldest, end.position))
            last = end if looked_at == end.position else await self._place_at(looked_at)
        return FeedPage(events, last)

    async def _place_at(self, position: int) -> LogPosition:
        found: list[StoredEvent] = await self._log.after(position - 1, 1) if position else []
        is_there = bool(found) and found[0].position == position
        return LogPosition(position, found[0].id if is_there else "")

    async def run(self) -> None:
        """Read published events while there are followers, until cancelled."""
        failures = 0
        while True:
            await self._is_followed.wait()
            self._woken.clear()
            try:
                await self._catch_up()
                failures = 0
            except StoreError as error:
                failures += 1
                if failures == 1:
                    _log.error("events cannot be read, trying again: %s", error.detail)
            await self._pause(failures)

    async def _catch_up(self) -> None:
        if self._recent is None:
            self._recent = RecentEvents(await self.newest())
            self._notify()
            return
        recent = self._recent
        while found := await self._log.after(recent.end.position, self.limits.page):
            recent.append(found)
            self._notify()

    async def _pause(self, failures: int) -> None:
        longest = self.limits.longest_backoff_seconds
        seconds = min(longest, self.limits.poll_seconds * 2 ** min(failures, 16))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._woken.wait()

    def _notify(self) -> None:
        """Wake all waiting followers."""
        notified, self._changed = self._changed, asyncio.Event()
        notified.set()
        if self.is_closing:
            self._changed.set()


def _reset(reason: Literal["unknown", "expired"], oldest: int) -> FeedPage:
    place = LogPosition(oldest - 1)
    return FeedPage((), place, Reset(reason, place))


class StreamRequest(Struct, frozen=True, kw_only=True):
    """A follower's request."""

    wanted: TypeFilter = TypeFilter()
    cursor: str | None = None
    """The cursor to resume from. If it is set, `start` is ignored."""
    start: Literal["latest", "earliest"] = "latest"
    """Where to begin without a cursor."""


async def stream_events(
    feed: Feed, request: StreamRequest, keep_alive_seconds: float = KEEP_ALIVE_SECONDS
) -> AsyncGenerator[bytes, None]:
    """The pieces of the stream. It ends when the gateway stops.

    At least one piece comes in `keep_alive_seconds`. For a slow client, only its position is kept.
    Raises `StoreError`, before the first piece or later.
    """
    opening = await _open(feed, request)
    retry = b"retry: %d\n\n" % RETRY_MILLISECONDS
    yield retry + _reset_frame(opening.reset, request.wanted)
    place = sent = opening.place
    loop = asyncio.get_running_loop()
    due = loop.time() + keep_alive_seconds
    while not feed.is_closing:
        changed = feed.changed()
        page = await feed.since(place, request.wanted)
        for piece in _pieces(page, request.wanted):
            yield piece
            sent, due = page.place, loop.time() + keep_alive_seconds
        has_moved = page.place != place
        place = page.place
        if not has_moved:
            await _wait(changed, due)
        if loop.time() >= due:
            yield _keep_alive(place if place != sent else None, request.wanted)
            sent, due = place, loop.time() + keep_alive_seconds
    yield retry


async def _open(feed: Feed, request: StreamRequest) -> FeedPage:
    if request.cursor is not None:
        return await feed.resume(request.cursor, request.wanted)
    place = await (feed.newest() if request.start == "latest" else feed.earliest())
    return FeedPage((), place)


async def _wait(changed: asyncio.Event, due: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await changed.wait()


def _pieces(page: FeedPage, wanted: TypeFilter) -> Iterator[bytes]:
    if page.reset is not None:
        yield _reset_frame(page.reset, wanted)
    yield from _joined(_frame(event, wanted) for event in page.events)


def _joined(frames: Iterable[bytes]) -> Iterator[bytes]:
    """Joins frames into pieces of a limited size."""
    piece: list[bytes] = []
    size = 0
    for frame in frames:
        piece.append(frame)
        size += len(frame)
        if size >= _CHUNK_BYTES:
            yield b"".join(piece)
            piece, size = [], 0
    if piece:
        yield b"".join(piece)


def _frame(event: Published, wanted: TypeFilter) -> bytes:
    cursor = event.place.cursor(wanted).encode()
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor, event.type.encode(), event.text)


def _reset_frame(reset: Reset | None, wanted: TypeFilter) -> bytes:
    """A frame that reports a gap: the follower's position is unknown or no longer in the log."""
    if reset is None:
        return b""
    text = jsontext.encode({"reason": reset.reason, "oldest": reset.place.position + 1})
    cursor = reset.place.cursor(wanted).encode()
    return b"id: %b\nevent: reset\ndata: %b\n\n" % (cursor, text)


def _keep_alive(place: LogPosition | None, wanted: TypeFilter) -> bytes:
    """A keep-alive frame. It has a cursor if the filter has left out events.

    Without this cursor, a follower of rare events would reconnect with a position whose events were
    removed long ago.
    """
    cursor = b"" if place is None else b"id: %b\n" % place.cursor(wanted).encode()
    return b": keep-alive\n%b\n" % cursor


class SequencerConfig(Struct, frozen=True, kw_only=True):
    """How often the sequencer looks."""

    poll_seconds: float = 0.25
    """Polling is required, because another process may have committed. Waking only saves time."""
    idle_poll_seconds: float = 0.0
    """The longest time between two polls while there are no events. It may be long where no other
    process commits any. At 0 it is `poll_seconds`."""
    batch: int = 500
    """Events that get their positions in one transaction."""
    longest_backoff_seconds: float = 5.0
    """The longest wait between two attempts while the store fails."""


class Sequencer:
    """Runs `EventLog.sequence` when it is woken, and every `poll_seconds`.

    Many processes may run one. The store lets only one of them work at a time.
    """

    def __init__(
        self, log: EventLog, on_published: Callable[[], None], config: SequencerConfig | None = None
    ) -> None:
        self._log = log
        self._on_published = on_published
        """Called when events got positions, so that followers need not wait for their poll."""
        self._config = config or SequencerConfig()
        self._polls = Polls(self._config.poll_seconds, self._config.idle_poll_seconds)
        self._woken = asyncio.Event()
        self.problem: str | None = None
        """Why events cannot be published, described for the operator, or None."""

    def wake(self) -> None:
        """Run now, because a transaction with events may have committed."""
        self._polls.note_work()
        self._woken.set()

    async def run(self) -> None:
        """Sequence until cancelled. When the store fails, try again with growing waits."""
        failures = 0
        while True:
            self._woken.clear()
            try:
                await self._drain()
                failures = 0
                self.problem = None
            except StoreError as error:
                failures += 1
                self.problem = "Events cannot be published."
                _report(error, failures)
            await self._pause(failures)

    async def _drain(self) -> None:
        """Give all committed events their positions."""
        # The store may place fewer than it is asked to, so that its transactions stay short.
        while await self._log.sequence(self._config.batch):
            self._polls.note_work()
            self._on_published()

    async def _pause(self, failures: int) -> None:
        if failures:
            # Waking does not end this wait. Otherwise commits would overload a failing store.
            longest = self._config.longest_backoff_seconds
            await asyncio.sleep(min(longest, self._config.poll_seconds * 2 ** min(failures, 16)))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._polls.wait_seconds()):
                await self._woken.wait()


def _report(error: StoreError, failures: int) -> None:
    """Log once per outage, not once per attempt."""
    if failures == 1:
        _log.error("events cannot be published, trying again: %s", error.detail)
