"""Reports of defects, and tracebacks for the log, both without any value that was worked on."""

import logging
import traceback
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from traceback import walk_tb
from types import FrameType
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from gateway.bounds.rates import Bucket, Rate
from gateway.clock import Clock, SystemClock
from gateway.errors import GatewayError
from gateway.observability.repeats import ERROR

# Tracebacks for the log, without the texts of exceptions, which may contain arguments.

_MAX_ERRORS: Final = 20


def silent_traceback(error: BaseException) -> str:
    """The frames and the class of `error` and of the errors that led to it, the first one first.

    The texts of our own errors are kept: they are written for the log.
    """
    return "\n".join(_described(each) for each in chain_of(error))


def chain_of(error: BaseException) -> list[BaseException]:
    """`error` and the errors that led to it, the first one first. There are at most 20."""
    return list(islice(_chain(error, set()), _MAX_ERRORS))[::-1]


def _chain(error: BaseException, seen: set[int]) -> Iterator[BaseException]:
    if id(error) in seen:
        return
    seen.add(id(error))
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _chain(each, seen)
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _chain(before, seen)


def _described(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    text = f": {error.detail}" if isinstance(error, GatewayError) else ""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{name}{text}"


# Reports of defects: where the gateway's own code failed, without any value that it worked on.
#
# What is a defect is decided where it is logged. A line at the level of errors that has an
# exception is one, and so is a line of `defect`, whose exception the log itself does not show.

_log: Final = logging.getLogger(__name__)
DEFECT: Final = "gateway_defect"
"""The extra attribute of a log record with the exception that is reported."""
REPORT: Final = "report_id"
"""The member of a line of the log with the id of its report."""
KIND_RATE: Final = Rate(1 / 60, 5)
"""Reports of one kind, which is the place in the code and the class of the error."""
ALL_RATE: Final = Rate(0.5, 50)
_MAX_KINDS: Final = 1000
_MAX_FRAMES: Final = 50
_OWN: Final = "gateway"
_TRACE: Final = "\n%s"
"""What `log_defect` adds to the text of a line."""

_Kind = tuple[str, int, str]


class Frame(Struct, frozen=True, kw_only=True):
    """A place in the code."""

    module: str
    file: str
    """Without its folders, which name users of the machine."""
    function: str
    line: int
    is_own: bool
    """Whether it is not in an installed library."""


class FailedWith(Struct, frozen=True, kw_only=True):
    """An exception, without its text."""

    module: str
    name: str
    frames: tuple[Frame, ...]
    """The innermost one last."""


class DefectReport(Struct, frozen=True, kw_only=True):
    """A defect. It holds names of the code, and nothing of a request: not even its id, which
    callers choose."""

    id: str
    """32 hexadecimal digits. The line of the log has it too."""
    at: datetime
    logger: str
    message: str
    """The text of the line without its values. Empty for libraries, which put values in texts."""
    errors: tuple[FailedWith, ...]
    """The first one first: the others came of it."""
    unreported: int
    """How many defects of this kind were left out before."""


class _Silent:
    """An exception in a log record, for handlers that know it. Others see only its class."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __repr__(self) -> str:
        return type(self.error).__name__


def defect(error: BaseException) -> dict[str, Any]:
    """The `extra` of a line at the level of errors about `error`, which the line must not show."""
    return {ERROR: type(error).__name__, DEFECT: _Silent(error)}


def log_defect(
    log: logging.Logger,
    error: BaseException,
    text: str,
    *values: object,
    level: int = logging.ERROR,
) -> None:
    """Log a line with the place in the code and the class of `error`, from where this is called.

    `logging.Logger.exception` would write the text of the exception too, which may repeat
    arguments or parameters of SQL.
    """
    message, trace = text + _TRACE, silent_traceback(error)
    log.log(level, message, *values, trace, extra=defect(error), stacklevel=2)


class DefectHandler(logging.Handler):
    """Sends a report for each log record of a defect, up to `KIND_RATE` and `ALL_RATE`."""

    def __init__(self, send: Callable[[DefectReport], None], clock: Clock | None = None) -> None:
        """`send` must return at once."""
        super().__init__(logging.ERROR)
        self._send = send
        self._clock = clock or SystemClock()
        self._all = Bucket(ALL_RATE, self._clock.monotonic())
        self._kinds: dict[_Kind, _Reports] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Send the report of `record`, if it is about a defect, and give the record its id."""
        error = _error_of(record)
        if error is None:
            return
        unreported = self._admit(record, error)
        if unreported is None:
            return
        report = _report(record, error, unreported)
        setattr(record, REPORT, report.id)
        try:
            self._send(report)
        except Exception as failure:  # noqa: BLE001 - what reports defects must not add to them
            _log.warning("a defect could not be reported: %s", type(failure).__name__)

    def _admit(self, record: logging.LogRecord, error: BaseException) -> int | None:
        """How many of this kind were left out since the last report. None: leave this one out."""
        key = record.pathname, record.lineno, type(error).__name__
        kind = self._kinds.get(key)
        now = self._clock.monotonic()
        if kind is None:
            if len(self._kinds) >= _MAX_KINDS:
                del self._kinds[next(iter(self._kinds))]
            kind = self._kinds[key] = _Reports(now)
        if kind.bucket.take(now) or self._all.take(now):
            kind.unreported += 1
            return None
        unreported, kind.unreported = kind.unreported, 0
        return unreported


class _Reports:
    """The state of one kind of reports."""

    __slots__ = ("bucket", "unreported")

    def __init__(self, now: float) -> None:
        self.bucket = Bucket(KIND_RATE, now)
        self.unreported = 0


def _error_of(record: logging.LogRecord) -> BaseException | None:
    silent = getattr(record, DEFECT, None)
    if isinstance(silent, _Silent):
        return silent.error
    return record.exc_info[1] if record.exc_info else None


def _report(record: logging.LogRecord, error: BaseException, unreported: int) -> DefectReport:
    is_own = record.name.partition(".")[0] == _OWN and isinstance(record.msg, str)
    return DefectReport(
        id=uuid4().hex,
        at=datetime.fromtimestamp(record.created, UTC),
        logger=record.name,
        message=record.msg.removesuffix(_TRACE) if is_own else "",
        errors=tuple(_failed_with(each) for each in chain_of(error)),
        unreported=unreported,
    )


def _failed_with(error: BaseException) -> FailedWith:
    frames = [_frame(frame, line) for frame, line in walk_tb(error.__traceback__)]
    kind = type(error)
    return FailedWith(
        module=kind.__module__, name=kind.__qualname__, frames=tuple(frames[-_MAX_FRAMES:])
    )


def _frame(frame: FrameType, line: int) -> Frame:
    code = frame.f_code
    path = code.co_filename.replace("\\", "/")
    return Frame(
        module=str(frame.f_globals.get("__name__", "")),
        file=path.rpartition("/")[2],
        function=code.co_name,
        line=line,
        is_own="/site-packages/" not in path,
    )
