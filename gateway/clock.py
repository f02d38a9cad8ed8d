"""Clocks, which are passed as arguments, so that tests can control the time; and waits."""

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


class Polls:
    """The waits between polls of what is often idle. Each is twice the one before, until there is
    work again.

    So what becomes due by time alone is found at the latest when it has waited twice as long as it
    should, and never later than `longest` after its time.
    """

    def __init__(self, first: float, longest: float) -> None:
        """Both in seconds."""
        self._first = first
        self._longest = max(first, longest)
        self._next = first

    def note_work(self) -> None:
        """Look often from now on."""
        self._next = self._first

    def wait_seconds(self) -> float:
        """The wait before the next poll."""
        found = self._next
        self._next = min(2 * found, self._longest)
        return found
