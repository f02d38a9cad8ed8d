"""One log line per recorded call: who, what, the outcome and the time taken; never an argument."""

import logging
from collections.abc import Sequence
from typing import Final

from gateway.store.audited import PENDING, AuditRecord

LOGGER: Final = "gateway.calls"
_log: Final = logging.getLogger(LOGGER)
_SHOWN: Final = (
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
    """A line for each of `records` that is complete.

    Lines are written once the records are stored, so a call does not wait for its line.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    for record in records:
        if record.outcome != PENDING:
            shown = {name: getattr(record, name) for name in _SHOWN}
            _log.info("call", extra={"fields": {**shown, "audit_id": record.id}})


def log_nothing(records: Sequence[AuditRecord]) -> None:
    """No line for any of `records`."""
