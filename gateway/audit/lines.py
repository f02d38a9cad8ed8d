"""One log line per recorded call: who, what, the outcome and the time taken; never an argument."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from gateway.observability.repeats import ROWS
from gateway.store.records import PENDING, AuditRecord

LOGGER: Final = "gateway.calls"
_log: Final = logging.getLogger(LOGGER)
_INTERNAL: Final = "INTERNAL_ERROR"
"""The outcome of a failure of the gateway itself."""
_FAILED: Final = 500
"""The lowest status of a failure that is no mistake of the caller."""
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
_OPTIONAL: Final = ("trace_id", "job_id")


def log_calls(records: Sequence[AuditRecord]) -> None:
    """Write a line for each of `records` that is complete, at the level of its outcome.

    The records are stored already, so a call does not wait for its line.
    """
    rows: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        level = _level(record)
        if record.outcome != PENDING and _log.isEnabledFor(level):
            rows.setdefault(level, []).append(_row(record))
    for level, each in rows.items():
        # One log record for many lines: making and writing one costs ten times its text.
        _log.log(level, "call", extra={ROWS: each})


def _level(record: AuditRecord) -> int:
    """How much the outcome concerns the operator. The mistakes of callers do not."""
    if record.status < _FAILED:
        return logging.INFO
    return logging.ERROR if record.outcome == _INTERNAL else logging.WARNING


def _row(record: AuditRecord) -> dict[str, Any]:
    row = {**{name: getattr(record, name) for name in _FIELDS}, "audit_id": record.id}
    others = {name: getattr(record, name) for name in _OPTIONAL}
    return row | {name: value for name, value in others.items() if value is not None}


def log_nothing(records: Sequence[AuditRecord]) -> None:
    """Write no line."""
