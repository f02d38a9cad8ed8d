"""Logs: one line per event on stderr, JSON for machines, colours for a terminal, no secrets."""

import json
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO
from urllib.parse import quote

import msgspec

from gateway.bounds.rates import Rate
from gateway.observability.defects import DEFECT, DefectHandler, silent_traceback
from gateway.observability.plain_structlog import (
    EventDict,
    ExcInfo,
    Processor,
    WrappedLogger,
    structlog,
)
from gateway.observability.repeats import DEFAULT_RATE, ROWS, RepeatLimit
from gateway.trace_context import current_trace_id

# Masks known secrets in a line, as the last step before it is written.

MASK: Final = "***"
SHORTEST_SECRET: Final = 6
"""Shorter secrets are not masked: they would match ordinary text in most lines."""

_MARKS: Final = ("bearer ", "gw_")
"""A text that contains none of them, in lower case, matches none of `_PATTERNS`. To search for them
costs a tenth of matching the patterns, and most lines contain none."""
_PATTERNS: Final = (
    r"(?<=bearer )[A-Za-z0-9._~+/=-]{6,}",
    r"(?<![A-Za-z0-9_-])gw_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
)
"""Any bearer token, and the gateway's own keys anywhere."""


class Redactor:
    """Masks the given secrets, and bearer tokens and keys, in every form that a renderer writes."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # Twice, because a message may contain the repr of a secret, and JSON escapes the message.
        known = {
            form for secret in secrets for inner in forms_of(secret) for form in forms_of(inner)
        }
        # Longest first: of a secret that begins with another one, all must be masked.
        exact = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._exact = re.compile("|".join(exact) or r"(?!)")
        self._patterns = re.compile("|".join(_PATTERNS), re.IGNORECASE)

    def redact(self, text: str) -> str:
        """`text` with every secret masked."""
        masked = self._exact.sub(MASK, text)
        lowered = masked.lower()
        if any(mark in lowered for mark in _MARKS):
            masked = self._patterns.sub(MASK, masked)
        return masked


def forms_of(text: str) -> set[str]:
    """`text` as it is, and as JSON, Python and a URL write it. None if it is too short to mask."""
    if len(text) < SHORTEST_SECRET:
        return set()
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        quote(text, safe=""),
    }


# Logs: one line per event on stderr, JSON for machines, colours for a terminal, no secrets.

LogFormat = Literal["auto", "json", "console"]

request_id: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
"""The id of the current request. The edge sets it, and every line contains it."""

_WHOLE_BYTES: Final = 4096
"""A write of at most PIPE_BUF bytes is not split by what other processes write to the pipe."""
_QUIET: Final = {
    "uvicorn.access": logging.CRITICAL,
    "aiosqlite": logging.WARNING,
    "alembic": logging.WARNING,
    "uvicorn.error": logging.WARNING,
    "mcp": logging.WARNING,
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
}
"""The log levels of libraries whose lines repeat the audit, or are too many."""


def configure_logs(
    *,
    level: str = "info",
    form: LogFormat = "auto",
    secrets: Iterable[str] = (),
    repeats: Rate = DEFAULT_RATE,
    stream: TextIO | None = None,
) -> None:
    """Send all logs of the process, structlog's and the standard library's, to one stream.

    The stream is stderr by default, because stdout is for answers. `secrets`, bearer tokens and the
    gateway's keys are masked. `repeats` limits the warnings and errors of one kind, which are those
    from one place in the code with one class of error. What an earlier call of this has limited is
    reported first.
    """
    target = stream or sys.stderr
    limit = RepeatLimit(repeats)
    handler = _Handler(target, limit)
    is_json = form == "json" or (form == "auto" and not target.isatty())
    renderers = _renderers(target, is_json=is_json)
    handler.setFormatter(_Formatter(renderers, Redactor(secrets), is_json=is_json))
    handler.addFilter(limit)
    root = logging.getLogger()
    for old in root.handlers[:]:
        if not isinstance(old, DefectHandler):
            root.removeHandler(old)
        if isinstance(old, _Handler):
            old.close()
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(least)
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines, several at once. When it is closed, it reports how many it left out last."""

    def __init__(self, stream: TextIO, limit: RepeatLimit) -> None:
        super().__init__(stream)
        self._limit = limit

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of `record`, or its lines in as few writes as keep each line whole."""
        if not hasattr(record, ROWS):
            super().emit(record)
            return
        try:
            for part in _parts(self.format(record)):
                self.stream.write(part)
                self.flush()
        except Exception:  # noqa: BLE001 - as every handler of the standard library
            self.handleError(record)

    def close(self) -> None:
        """Write the report, then close."""
        for line in self._limit.unreported():
            self.emit(line)
        super().close()


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Renders, then redacts, so that no later step can add a secret."""

    def __init__(self, renderers: list[Processor], redactor: Redactor, *, is_json: bool) -> None:
        strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
        shared = [*_SHARED, _spread_fields]
        super().__init__(foreign_pre_chain=shared, processors=[strip, *renderers])
        self._redactor = redactor
        self._is_json = is_json

    def format(self, record: logging.LogRecord) -> str:
        """The line of `record`, or a line for each of its `ROWS`."""
        rows = getattr(record, ROWS, None)
        text = self._line(record) if rows is None else "\n".join(self._lines(record, rows))
        return self._redactor.redact(text)

    def _lines(self, record: logging.LogRecord, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
        if self._is_json:
            yield from _json_lines(record, rows)
            return
        shared = {name: value for name, value in vars(record).items() if name != ROWS}
        for row in rows:
            yield self._line(logging.makeLogRecord({**shared, "fields": row}))

    def _line(self, record: Any) -> str:
        is_plain = self._is_json and hasattr(record, "fields") and record.exc_info is None
        return next(_json_lines(record, [record.fields])) if is_plain else super().format(record)


def _parts(text: str) -> Iterator[str]:
    """The lines of `text`, in parts of up to `_WHOLE_BYTES` where no line is longer."""
    part = ""
    for line in text.split("\n"):
        if part and len((part + line).encode()) >= _WHOLE_BYTES:
            yield part
            part = ""
        part += f"{line}\n"
    yield part


def _json_lines(record: logging.LogRecord, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines that the renderers make of `rows`, at a tenth of their cost."""
    common = {
        "event": record.getMessage(),
        "level": record.levelname.lower(),
        "logger": record.name,
        "timestamp": datetime.fromtimestamp(record.created, UTC),
    }
    for row in rows:
        yield msgspec.json.encode({**row, **common}).decode()


def _spread_fields(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The members of `fields` as members of the event."""
    event.update(event.pop("fields", None) or {})
    return event


def _renderers(stream: TextIO, *, is_json: bool) -> list[Processor]:
    if not is_json:
        formatter = _write_silent
        colours = stream.isatty()
        return [structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=formatter)]
    silent = structlog.processors.ExceptionRenderer(_silent)
    return [silent, structlog.processors.JSONRenderer()]


def _silent(exc_info: ExcInfo) -> str:
    """The exception that a library logs. Its text and local variables may contain arguments."""
    return silent_traceback(exc_info[1])


def _write_silent(stream: TextIO, exc_info: ExcInfo) -> None:
    stream.write(f"\n{_silent(exc_info)}")


def _drop_unwritten(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Remove uvicorn's second copy of the message, which has escape sequences, and exceptions that
    are for reports."""
    event.pop("color_message", None)
    event.pop(DEFECT, None)
    return event


def _add_request_id(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    current, trace_id = request_id.get(), current_trace_id()
    if current is not None:
        event.setdefault("request_id", current)
    if trace_id is not None:
        event.setdefault("trace_id", trace_id)
    return event


_SHARED: Final[list[Processor]] = [
    structlog.contextvars.merge_contextvars,
    _add_request_id,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    _drop_unwritten,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
