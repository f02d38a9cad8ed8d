"""Counts the events of a reply while it arrives, so that a call can report its progress."""

from collections.abc import Mapping
from typing import Final

from gateway.amounts import amount
from gateway.contract.context import ReportProgress

_KEPT: Final = 6
"""How much of a line is looked at: `data:` and one byte more."""


class EventCounter:
    """Counts server-sent events with data, or lines that are not blank."""

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._count = 0
        self._start = b""
        """The beginning of the line that has not ended yet."""
        self._has_data = False

    def __call__(self, headers: Mapping[str, str], piece: bytes) -> None:
        """See `Watch`."""
        is_stream = headers.get("content-type", "").lower().startswith("text/event-stream")
        before = self._count
        *ended, rest = piece.split(b"\n")
        for line in ended:
            self._end((self._start + line[:_KEPT]).strip(b"\r"), is_stream=is_stream)
            self._start = b""
        self._start = (self._start + rest[:_KEPT])[:_KEPT]
        if self._count > before:
            self._report(self._count, f"{amount(self._count, 'event')} received")

    def _end(self, line: bytes, *, is_stream: bool) -> None:
        if not is_stream:
            self._count += bool(line.strip())
        elif not line:
            self._count += self._has_data
            self._has_data = False
        else:
            self._has_data |= line == b"data" or line.startswith(b"data:")
