"""The log as its followers read it: one reader of the store for all of them.

A follower owns nothing but its place. What it has not read yet lies in the log, so a slow one costs
no memory, and one that comes back goes on where it was.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import LimitExceeded, Stopping, StoreError
from gateway.events.filters import LogPosition, TypeFilter, position_in
from gateway.events.recent import Published, RecentEvents, as_published
from gateway.store.protocols import EventLog
from gateway.store.records import StoredEvent

_log: Final = logging.getLogger(__name__)


class FeedLimits(Struct, frozen=True, kw_only=True):
    """What followers may cost."""

    poll_seconds: float = 0.25
    page: int = 200
    """Events that are read, and written to one follower, at once."""
    followers: int = 500
    """In total. Fewer than the connections that a gateway takes, so that calls find room."""
    followers_of_one: int = 50
    """Of one agent."""
    longest_backoff_seconds: float = 5.0


class Reset(Struct, frozen=True):
    """The follower's place is not in the log, so it goes on from the oldest event."""

    reason: Literal["unknown", "expired"]
    """`unknown`: of another filter or another log; `expired`: what came after it is removed."""
    place: LogPosition
    """Before the oldest event that is kept."""


class FeedPage(Struct, frozen=True):
    """What there is after a place, as far as it has been read."""

    events: tuple[Published, ...]
    place: LogPosition
    """Where to go on: also after events that the filter left out."""
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

    @property
    def followers(self) -> int:
        """How many there are."""
        return sum(self._followers.values())

    def wake(self) -> None:
        """Look now: events were published by this process."""
        self._woken.set()

    def close(self) -> None:
        """Send every follower away, and take no more: the gateway stops."""
        self.is_closing = True
        self._notify()

    @contextmanager
    def seat(self, agent: str) -> Iterator[None]:
        """A follower's place among the others. Raises `LimitExceeded` and `Stopping`."""
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
            # What is remembered would be stale when the next one comes.
            self._is_followed.clear()
            self._recent = None

    def changed(self) -> asyncio.Event:
        """Set as soon as there is more than now. To be taken before reading."""
        return self._changed

    @property
    def end(self) -> LogPosition | None:
        """After the newest event that is known; None until the log was looked at."""
        return None if self._recent is None else self._recent.end

    async def latest(self, count: int) -> list[Published]:
        """The newest events, oldest first. Raises `StoreError`."""
        _, newest = await self._log.bounds()
        return [as_published(event) for event in await self._log.after(newest - count, count)]

    async def newest(self) -> LogPosition:
        """After everything that is published by now. Raises `StoreError`."""
        _, newest = await self._log.bounds()
        return await self._place_at(newest)

    async def earliest(self) -> LogPosition:
        """Before the oldest event that is kept. Raises `StoreError`."""
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
        """What there is after `place` now. Raises `StoreError`."""
        recent = self._recent
        found = recent.since(place.position, self.limits.page) if recent else None
        if found is None:
            return await self._read(place, wanted, recent.end if recent else None)
        events = tuple(event for event in found if wanted.admits(event.type))
        return FeedPage(events, found[-1].place if found else place)

    async def _read(
        self, place: LogPosition, wanted: TypeFilter, end: LogPosition | None
    ) -> FeedPage:
        """What only the store remembers. `end` was the end of the log before this was called."""
        found = await self._log.after(place.position, self.limits.page, wanted.types)
        oldest, _ = await self._log.bounds()
        if oldest > place.position + 1:
            return _reset("expired", oldest)
        events = tuple(map(as_published, found))
        last = events[-1].place if events else place
        if len(found) < self.limits.page and end is not None and end.position > last.position:
            # Everything up to the end was looked at, and the rest left out.
            last = end
        return FeedPage(events, last)

    async def _place_at(self, position: int) -> LogPosition:
        found: list[StoredEvent] = await self._log.after(position - 1, 1) if position else []
        is_there = bool(found) and found[0].position == position
        return LogPosition(position, found[0].id if is_there else "")

    async def run(self) -> None:
        """Read what is published, while anybody follows, until cancelled."""
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
        """Wake everybody who waits for more."""
        notified, self._changed = self._changed, asyncio.Event()
        notified.set()
        if self.is_closing:
            self._changed.set()


def _reset(reason: Literal["unknown", "expired"], oldest: int) -> FeedPage:
    place = LogPosition(oldest - 1)
    return FeedPage((), place, Reset(reason, place))
