"""Reads the event log for all followers with one reader of the store.

A follower has only a position in the log. So a slow follower costs no memory, and one that
reconnects goes on at its position.
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
from gateway.store.publishing import EventLog, looked_up_to
from gateway.store.records import StoredEvent

_log: Final = logging.getLogger(__name__)


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
