"""Warnings and errors that come again and again: the first are written, the others are counted."""

import logging
from typing import Final

from gateway.clock import Clock, SystemClock
from gateway.limits.buckets import Bucket, Rate

USUAL_RATE: Final = Rate(5, 50)
SUPPRESSED: Final = "suppressed"
"""The member of a line that says how many of its kind were left out before it."""


class RepeatLimit(logging.Filter):
    """Lets so many lines of each kind pass: of one severity, from one place in the code.

    Whoever can cause a warning can cause it without end. Lines below a warning always pass.
    """

    def __init__(self, rate: Rate = USUAL_RATE, clock: Clock | None = None) -> None:
        super().__init__()
        self._rate = rate
        self._clock = clock or SystemClock()
        self._kinds: dict[tuple[str, int, int], _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line; one that is written says how many were not."""
        if record.levelno < logging.WARNING:
            return True
        place = (record.pathname, record.lineno, record.levelno)
        kind = self._kinds.get(place)
        if kind is None:
            kind = self._kinds[place] = _Kind(self._rate)
        if kind.bucket.take(self._clock.monotonic()):
            kind.suppressed += 1
            return False
        if kind.suppressed:
            setattr(record, SUPPRESSED, kind.suppressed)
            kind.suppressed = 0
        return True


class _Kind:
    """The lines from one place in the code, of which there are only so many."""

    __slots__ = ("bucket", "suppressed")

    def __init__(self, rate: Rate) -> None:
        self.bucket = Bucket(rate, 0.0)
        self.suppressed = 0
