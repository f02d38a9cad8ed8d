"""Logs: one line per event on stderr, JSON for machines, colours for a terminal, no secrets."""

import logging
import sys
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Final, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from gateway.observability.redaction import Redactor

LogFormat = Literal["auto", "json", "console"]

request_id: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
"""The id of the request that is being served: set at the edge, added to every line."""

_QUIET: Final = {
    "uvicorn.access": logging.CRITICAL,
    "aiosqlite": logging.WARNING,
    "alembic": logging.WARNING,
    "uvicorn.error": logging.WARNING,
    "mcp": logging.WARNING,
    "httpx": logging.WARNING,
    "httpcore": logging.WARNING,
}
"""Libraries whose lines say what the audit says better, or say too much."""


def configure_logs(
    *,
    level: str = "info",
    form: LogFormat = "auto",
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Send every log of the process, structlog's and the standard library's, to one place.

    `stream` is stderr unless a test says otherwise: stdout belongs to the answers. `secrets` are
    masked wherever they occur, as are bearer tokens and this gateway's keys.
    """
    target = stream or sys.stderr
    handler = logging.StreamHandler(target)
    handler.setFormatter(_Formatter(_renderers(form, target), Redactor(secrets)))
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
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


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Renders, then redacts: after this nothing can add a secret any more."""

    def __init__(self, renderers: list[Processor], redactor: Redactor) -> None:
        strip = structlog.stdlib.ProcessorFormatter.remove_processors_meta
        super().__init__(foreign_pre_chain=_SHARED, processors=[strip, *renderers])
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.redact(super().format(record))


def _renderers(form: LogFormat, stream: TextIO) -> list[Processor]:
    is_terminal = stream.isatty()
    if form == "console" or (form == "auto" and is_terminal):
        # Plain tracebacks: the pretty ones print local variables, and those hold secrets.
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=is_terminal, exception_formatter=plain)]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def _drop_colours(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """uvicorn says everything twice, the second time with escape sequences."""
    event.pop("color_message", None)
    return event


def _add_request_id(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    current = request_id.get()
    if current is not None:
        event.setdefault("request_id", current)
    return event


_SHARED: Final[list[Processor]] = [
    structlog.contextvars.merge_contextvars,
    _add_request_id,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    _drop_colours,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
