"""Clocks. They are passed as arguments, so that tests can control the time."""

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


class MockClock:
    """The clock of mocks: the time of `clock`, or a time that begins at `start`.

    Both advance at the speed of `clock`. With `is_still`, the time does not advance.
    """

    def __init__(
        self, clock: Clock, start: datetime | None = None, *, is_still: bool = False
    ) -> None:
        self._clock = clock
        self._is_still = is_still
        self._wall = clock.now() if start is None else start.astimezone(UTC)
        self._follows = start is None and not is_still
        self._start = clock.monotonic()

    def now(self) -> datetime:
        if self._follows:
            return self._clock.now()
        return self._wall + timedelta(seconds=self._elapsed())

    def monotonic(self) -> float:
        return self._start + self._elapsed()

    def _elapsed(self) -> float:
        return 0.0 if self._is_still else self._clock.monotonic() - self._start
