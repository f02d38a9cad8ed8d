"""A queue in memory that keeps the rules of `Queue` that a worker relies on."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.store.records import Changes, Claim, Job, WorkLeft

EPOCH = datetime(2026, 11, 20, tzinfo=UTC)


def now():
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())


def new_job(job_id, kind="webhook", lane="avinode", max_attempts=6, **values):
    at = now()
    return Job(
        id=job_id,
        kind=kind,
        subject=f"subject-{job_id}",
        lane=lane,
        state="pending",
        attempts=values.pop("attempts", 0),
        max_attempts=max_attempts,
        run_at=at,
        lease_until=None,
        claim_seq=0,
        claimed_by=None,
        error=values.pop("error", None),
        replay_of=None,
        actor=None,
        created_at=at,
        updated_at=at,
    )


class MemoryQueue:
    """`failure` is raised by every operation while it is set."""

    def __init__(self):
        self.jobs = {}
        self.changes = []
        self.failures = {}
        self.failure = None
        self.claims = 0
        self.asked_for_claims = 0
        self.looks = 0
        self.endings = []
        """Endpoints for which deliveries were to be ended; `failing_endings` fails that often."""
        self.failing_endings = 0

    def add(self, *jobs):
        self.jobs.update((job.id, job) for job in jobs)

    def states(self):
        return {name: job.state for name, job in self.jobs.items()}

    async def waiting(self):
        self.looks += 1
        self._check()
        states = ("pending", "retryable")
        is_due = any(job.state in states and job.run_at <= now() for job in self.jobs.values())
        return WorkLeft(has_due_jobs=is_due, has_events=False)

    async def claim(self, worker, kinds, limit, lease_seconds, *, lane_limit=None, rooms=None):
        self.asked_for_claims += 1
        self._check()
        lanes = Counter(job.lane for job in self.jobs.values() if job.state == "processing")
        claims = []
        for job in list(self.jobs.values()):
            is_due = job.state in ("pending", "retryable") and job.run_at <= now()
            has_room = lane_limit is None or lanes[job.lane] < lane_limit
            taken = sum(each.job.lane == job.lane for each in claims)
            has_room = has_room and taken < (rooms or {}).get(job.lane, limit)
            if job.kind in kinds and is_due and has_room and len(claims) < limit:
                lanes[job.lane] += 1
                claims.append(self._claim(job, worker, lease_seconds))
        return claims

    def _claim(self, job, worker, lease_seconds):
        self.claims += 1
        claimed = replace(
            job,
            state="processing",
            attempts=job.attempts + 1,
            claim_seq=job.claim_seq + 1,
            claimed_by=worker,
            lease_until=now() + timedelta(seconds=lease_seconds),
        )
        self.jobs[job.id] = claimed
        return Claim(job=claimed, worker=worker)

    async def extend(self, claims, lease_seconds):
        self._check()
        held = [claim.job.id for claim in claims if self._holds(claim)]
        for name in held:
            until = now() + timedelta(seconds=lease_seconds)
            self.jobs[name] = replace(self.jobs[name], lease_until=until)
        return frozenset(held)

    async def release(self, claims, delay_seconds=0.0):
        self._check()
        held = [claim for claim in claims if self._holds(claim)]
        for claim in held:
            self._end(claim, "pending", delay_seconds, attempts=claim.job.attempts - 1)
        return len(held)

    async def finish_all(self, finished):
        return [
            self._settle(claim, "completed", 0, changes, error=None) for claim, changes in finished
        ]

    async def fail(self, claim, failure, retry_seconds, changes):
        state = "dead_letter" if retry_seconds is None else "retryable"
        self.failures.setdefault(claim.job.id, []).append(failure.error)
        return self._settle(claim, state, retry_seconds or 0, changes, error=failure.error)

    async def end_undelivered(self, endpoint_id):
        self.endings.append(endpoint_id)
        await asyncio.sleep(0)
        if self.failing_endings:
            self.failing_endings -= 1
            raise StoreError("the database is away")

    async def sweep(self, limit, backoff_seconds, on_dead):
        self._check()
        ended = [
            job
            for job in self.jobs.values()
            if job.state == "processing" and job.lease_until < now()
        ][:limit]
        dead = 0
        for job in ended:
            is_dead = job.attempts >= job.max_attempts
            dead += is_dead
            if is_dead:
                self.changes.append(on_dead(job))
            state = "dead_letter" if is_dead else "retryable"
            self._end(Claim(job=job, worker="sweep"), state, backoff_seconds, error="lease_expired")
        return len(ended) - dead, dead

    def _settle(self, claim, state, delay, changes, **values):
        self._check()
        if not self._holds(claim):
            return False
        if changes != Changes():
            self.changes.append(changes)
        self._end(claim, state, delay, **values)
        return True

    def _end(self, claim, state, delay, **values):
        run_at = now() + timedelta(seconds=delay)
        job = self.jobs[claim.job.id]
        self.jobs[job.id] = replace(job, state=state, lease_until=None, run_at=run_at, **values)

    def _holds(self, claim):
        job = self.jobs[claim.job.id]
        return job.state == "processing" and job.claim_seq == claim.job.claim_seq

    def _check(self):
        if self.failure:
            raise StoreError(self.failure)
