"""What the queue must be like, in plain Python: what its tests compare it with."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.store.records import Claim

MAX_ATTEMPTS = 6


@dataclass
class ModelJob:
    """One attempt set."""

    subject: str
    run_at: datetime
    state: str = "pending"
    attempts: int = 0
    claim_seq: int = 0
    lease_until: datetime | None = None
    past: list[str] = field(default_factory=list)


class QueueModel:
    """The rules of the queue, without any database."""

    def __init__(self) -> None:
        self.jobs: dict[str, ModelJob] = {}

    def due(self, now: datetime) -> set[str]:
        return {
            job_id
            for job_id, job in self.jobs.items()
            if job.state in {"pending", "retryable"} and job.run_at <= now
        }

    def claim(self, job_id: str, now: datetime, lease: float) -> None:
        job = self.jobs[job_id]
        job.state = "processing"
        job.attempts += 1
        job.claim_seq += 1
        job.lease_until = now + timedelta(seconds=lease)

    def holds(self, claim: Claim) -> bool:
        job = self.jobs[claim.job.id]
        return job.state == "processing" and job.claim_seq == claim.job.claim_seq

    def leave(self, claim: Claim, state: str, run_at: datetime, outcome: str) -> bool:
        """Whether the claim was held, and the job went to `state`."""
        if not self.holds(claim):
            return False
        self.move(claim.job.id, state, run_at, outcome)
        return True

    def move(self, job_id: str, state: str, run_at: datetime, outcome: str) -> None:
        job = self.jobs[job_id]
        job.state, job.run_at, job.lease_until = state, run_at, None
        job.past.append(outcome)

    def release(self, claim: Claim, now: datetime) -> bool:
        if not self.holds(claim):
            return False
        job = self.jobs[claim.job.id]
        job.attempts -= 1
        self.move(claim.job.id, "retryable" if job.attempts else "pending", now, "released")
        return True

    def sweep(self, now: datetime, backoff: float) -> tuple[int, int]:
        again = dead = 0
        for job_id, job in self.jobs.items():
            if job.lease_until is None or job.lease_until >= now:
                continue
            is_dead = job.attempts >= MAX_ATTEMPTS
            again, dead = again + (not is_dead), dead + is_dead
            run_at = now if is_dead else now + timedelta(seconds=backoff)
            self.move(job_id, "dead_letter" if is_dead else "retryable", run_at, "lease_expired")
        return again, dead

    def may_repeat(self, job_id: str, *, is_forced: bool) -> bool:
        subject = self.jobs[job_id].subject
        states = {job.state for job in self.jobs.values() if job.subject == subject}
        is_over = states <= {"completed", "dead_letter", "cancelled"}
        return is_over and (is_forced or "completed" not in states)
