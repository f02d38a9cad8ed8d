"""One log line per recorded call: who, what, the outcome and the time taken; never an argument."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from gateway.observability.logs import ROWS
from gateway.store.audited import PENDING, AuditRecord

LOGGER: Final = "gateway.calls"
_log: Final = logging.getLogger(LOGGER)
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
    if rows:
        # One log record for many lines: making and writing one costs ten times its text.
        _log.info("call", extra={ROWS: rows})


def _row(record: AuditRecord) -> dict[str, Any]:
    row = {**{name: getattr(record, name) for name in _FIELDS}, "audit_id": record.id}
    return row if record.trace_id is None else {**row, "trace_id": record.trace_id}


def log_nothing(records: Sequence[AuditRecord]) -> None:
    """Write no line."""
