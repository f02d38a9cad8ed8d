"""One log line per recorded call: who, what, the outcome and the time taken; never an argument."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from gateway.store.audited import PENDING, AuditRecord

LOGGER: Final = "gateway.calls"
_log: Final = logging.getLogger(LOGGER)
_AT_ONCE: Final = 8
"""Lines in one write. They fit into 4,096 bytes (PIPE_BUF), which no other process can split."""
_FIELDS: Final = (
    "request_id",
    "transport",
    "operation",
    "subject",
    "agent",
    "outcome",
    "status",
    "backend",
    "duration_ms",
)


def log_calls(records: Sequence[AuditRecord]) -> None:
    """Write a line for each of `records` that is complete.

    The records are stored already, so a call does not wait for its line.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    rows = [_row(record) for record in records if record.outcome != PENDING]
    for first in range(0, len(rows), _AT_ONCE):
        # One log record for many lines: making and writing one costs ten times its text.
        _log.info("call", extra={"rows": rows[first : first + _AT_ONCE]})


def _row(record: AuditRecord) -> dict[str, Any]:
    return {**{name: getattr(record, name) for name in _FIELDS}, "audit_id": record.id}


def log_nothing(records: Sequence[AuditRecord]) -> None:
    """Write no line."""
