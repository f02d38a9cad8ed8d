"""What becomes true when a job ends in the dead letter, whoever buried it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from gateway.contract.event import DEAD_LETTERED, JOB_COMPLETED, JOB_FAILED
from gateway.ids import uuid7
from gateway.store.audited import AuditRecord
from gateway.store.records import Changes, Failure, Job, NewEvent

WEBHOOK: str = "webhook"
"""What audit records call the door by which a message came."""
DEAD_LETTER: str = "DEAD_LETTER"
_JOBS: str = "/jobs"


class DeadLetters:
    """Announces dead letters, and records those of webhooks."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def __call__(self, job: Job, failure: Failure) -> Changes:
        """The changes that go with the end of `job`.

        A delivery that cannot be made is not announced: its announcement would be delivered too.
        """
        match job.kind:
            case "webhook":
                return Changes(events=(_dead_lettered(job, failure),), audit=self._record(job))
            case "call":
                data = _facts(job) | {"error": failure.error}
                return Changes(events=(_job_event(job, JOB_FAILED, data),))
            case "delivery":
                return Changes()

    def _record(self, job: Job) -> AuditRecord:
        at = self._now()
        return AuditRecord(
            id=uuid7(at),
            at=at,
            request_id=job.subject,
            transport=WEBHOOK,
            operation=job.lane,
            subject=job.lane,
            agent=None,
            outcome=DEAD_LETTER,
            stage="job",
            status=500,
            backend=None,
            duration_ms=0.0,
            arguments=None,
        )


def completed(job: Job) -> NewEvent:
    """What is published when a call has succeeded."""
    return _job_event(job, JOB_COMPLETED, _facts(job))


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
    )


def _facts(job: Job) -> dict[str, Any]:
    # The lane of a call is its operation.
    return {"job_id": job.id, "operation": job.lane, "attempts": job.attempts}


def _job_event(job: Job, kind: str, data: dict[str, Any]) -> NewEvent:
    event_id = str(uuid5(UUID(job.id), kind))
    return NewEvent(id=event_id, type=kind, subject=job.id, source=_JOBS, data=data)
