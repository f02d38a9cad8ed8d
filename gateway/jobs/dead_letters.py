"""The changes that belong to the end of a job, whatever ended it: events and audit records."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from gateway.contract.event import DEAD_LETTERED, JOB_COMPLETED, JOB_FAILED
from gateway.ids import uuid7
from gateway.store.records import (
    AuditRecord,
    CallEnding,
    Changes,
    Failure,
    Job,
    NewEvent,
    TaskSettlement,
)
from gateway.trace_context import current_parent

OK: Final = "ok"
DEAD_LETTER: Final = "DEAD_LETTER"
_WEBHOOK: Final = "webhook"
"""The transport of messages in audit records."""
_JOBS: Final = "/jobs"


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


class DeadLetters:
    """Publishes an event for each dead letter, and an audit record for those of webhooks."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def __call__(self, job: Job, failure: Failure) -> Changes:
        """The changes that go with the end of `job`.

        A failed delivery publishes no event, because this event would need deliveries too.
        """
        match job.kind:
            case "webhook":
                account = account_of(job.subject, job.lane, job.lane, self._now(), is_dead=True)
                return Changes(events=(_dead_lettered(job, failure),), audit=account)
            case "call":
                data = _facts(job) | {"error": failure.error}
                return Changes(events=(_job_event(job, JOB_FAILED, data),))
            case "task":
                return in_doubt(job, failure)
            case "delivery":
                return Changes()


def completed(job: Job) -> NewEvent:
    """The event that a call or a task has succeeded."""
    return _job_event(job, JOB_COMPLETED, _facts(job))


def in_doubt(job: Job, failure: Failure) -> Changes:
    """The end of a task of which nobody knows whether it was made."""
    ending = CallEnding(outcome="unknown")
    return task_ended(job, TaskSettlement(job_id=job.id, ending=ending), failure.error)


def task_ended(job: Job, settled: TaskSettlement, error: str | None = None) -> Changes:
    """The end of a task. `error` is the class of its failure."""
    event = completed(job)
    if error is not None:
        event = _job_event(job, JOB_FAILED, _facts(job) | {"error": error})
    return Changes(events=(event,), task=settled)


def _dead_lettered(job: Job, failure: Failure) -> NewEvent:
    return NewEvent(
        id=str(uuid5(UUID(job.id), DEAD_LETTERED)),
        type=DEAD_LETTERED,
        subject=job.subject,
        source=f"/webhooks/{job.lane}",
        data={
            "webhook_id": job.subject,
            "provider": job.lane,
            "job_id": job.id,
            "attempts": job.attempts,
            "error": failure.error,
        },
        webhook_id=job.subject,
        trace=_trace_of(job),
    )


def _facts(job: Job) -> dict[str, Any]:
    # The lane of a call or a task is its operation.
    return {"job_id": job.id, "operation": job.lane, "attempts": job.attempts}


def _job_event(job: Job, kind: str, data: dict[str, Any]) -> NewEvent:
    event_id = str(uuid5(UUID(job.id), kind))
    return NewEvent(
        id=event_id, type=kind, subject=job.id, source=_JOBS, data=data, trace=_trace_of(job)
    )


def _trace_of(job: Job) -> str | None:
    """That of the attempt. Who takes back the claim of a dead worker is in no trace."""
    return current_parent() or job.trace
