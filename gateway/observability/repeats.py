"""Limits repeated warnings and errors: the first ones are written, the others are counted."""

import logging
from typing import Final

from gateway.bounds.rates import Bucket, Rate
from gateway.clock import Clock, SystemClock

DEFAULT_RATE: Final = Rate(5, 50)
SUPPRESSED: Final = "suppressed"
"""The member of a line with the number of lines of its kind that were left out before it."""
ERROR: Final = "error"
"""The member of a line with the class name of the error that it reports."""
ROWS: Final = "gateway_rows"
"""The extra attribute of a log record that stands for several lines: the fields of each."""
_MAX_KINDS: Final = 1000
_LAST: Final = "no more lines of this kind followed"
_Key = tuple[str, int, int, str | None]


class RepeatLimit(logging.Filter):
    """Limits the lines of each kind: those of one level, one place in the code, one class of error.

    A client that can cause a warning can cause it any number of times. Lines below the level of
    warnings are not limited, and `ROWS` are not: those are events, of which none may be missing.
    """

    def __init__(self, rate: Rate = DEFAULT_RATE, clock: Clock | None = None) -> None:
        super().__init__()
        self._rate = rate
        self._clock = clock or SystemClock()
        self._kinds: dict[_Key, _Kind] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line. Sets the number of lines that were left out before it."""
        if record.levelno < logging.WARNING or hasattr(record, ROWS):
            return True
        key = (record.pathname, record.lineno, record.levelno, _error_of(record))
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= _MAX_KINDS:
                del self._kinds[next(iter(self._kinds))]
            kind = self._kinds[key] = _Kind(self._rate, record.name)
        if kind.bucket.take(self._clock.monotonic()):
            kind.suppressed += 1
            return False
        if kind.suppressed:
            setattr(record, SUPPRESSED, kind.suppressed)
            kind.suppressed = 0
        return True

    def unreported(self) -> list[logging.LogRecord]:
        """For each kind with lines that were left out last, a line with their number."""
        lines = []
        for key, kind in self._kinds.items():
            if kind.suppressed:
                lines.append(_last_line(key, kind))
                kind.suppressed = 0
        return lines


class _Kind:
    """The state of one kind of lines."""

    __slots__ = ("bucket", "logger", "suppressed")

    def __init__(self, rate: Rate, logger: str) -> None:
        self.bucket = Bucket(rate, 0.0)
        self.logger = logger
        self.suppressed = 0


def _error_of(record: logging.LogRecord) -> str | None:
    """The class of the error that a line reports. The place alone is not enough, because failures
    of all calls are logged at one place."""
    if record.exc_info and record.exc_info[0]:
        return record.exc_info[0].__name__
    named = getattr(record, ERROR, None)
    return named if isinstance(named, str) else None


def _last_line(key: _Key, kind: _Kind) -> logging.LogRecord:
    path, number, level, error = key
    line = logging.LogRecord(kind.logger, level, path, number, _LAST, (), None)
    setattr(line, SUPPRESSED, kind.suppressed)
    if error is not None:
        setattr(line, ERROR, error)
    return line
