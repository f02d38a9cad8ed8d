"""Everything that the gateway logs, for tests of what it must not."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from gateway.observability.logs import configure_logs


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """What is logged at the least level; the guard of the log knows no secret."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logs(level="debug", form="json", stream=stream)
    try:
        yield stream
    finally:
        logging.captureWarnings(capture=False)
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()
