"""Audit records of webhook messages. They do not contain the payload."""

from datetime import datetime
from typing import Final

from gateway.ids import uuid7
from gateway.store.records import AuditRecord

OK: Final = "ok"
DEAD_LETTER: Final = "DEAD_LETTER"
_WEBHOOK: Final = "webhook"
"""The transport of messages in audit records."""


def account_of(
    webhook_id: str, provider: str, operation: str, at: datetime, *, is_dead: bool = False
) -> AuditRecord:
    """The record of a message that was processed or became a dead letter."""
    return AuditRecord(
        id=uuid7(at),
        at=at,
        request_id=webhook_id,
        transport=_WEBHOOK,
        operation=operation,
        subject=provider,
        agent=None,
        outcome=DEAD_LETTER if is_dead else OK,
        stage="job" if is_dead else None,
        status=500 if is_dead else 200,
        backend=None,
        duration_ms=0.0,
        arguments=None,
    )
