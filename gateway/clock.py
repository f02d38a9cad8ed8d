"""Time, so that tests own it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations and deadlines."""

    def now(self) -> datetime:
        """The wall time, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class FastClock:
    """Another clock's time, passing `speed` times as fast from now on: time for mocks.

    Wall time begins at `start`, or where the other clock is. At speed 0 it stands still.
    """

    def __init__(self, clock: Clock, speed: float, start: datetime | None = None) -> None:
        self._clock = clock
        self._speed = speed
        self._wall = clock.now() if start is None else start.astimezone(UTC)
        self._start = clock.monotonic()

    def now(self) -> datetime:
        return self._wall + timedelta(seconds=self._elapsed())

    def monotonic(self) -> float:
        return self._start + self._elapsed()

    def _elapsed(self) -> float:
        return (self._clock.monotonic() - self._start) * self._speed
