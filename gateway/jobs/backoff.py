"""Computes how long a failed job waits: by the policy of its kind, with jitter."""

from random import SystemRandom
from typing import Final

from gateway.job_policy import JobPolicy
from gateway.store.records import Job

_random: Final = SystemRandom()


def wait_seconds(policy: JobPolicy, job: Job, asked_seconds: float | None = None) -> float | None:
    """How long `job` waits after its latest attempt. None if that was the last one.

    `asked_seconds` is the wait that the other side asks for (`Retry-After`). It can make the wait
    longer, up to the longest one of the policy for limits, but never shorter.
    """
    if job.attempts >= job.max_attempts:
        return None
    waits = policy.waits_seconds
    base = waits[min(max(job.attempts, 1), len(waits)) - 1] * _random.uniform(*policy.jitter)
    longest = policy.limited_wait_seconds[1]
    return base if asked_seconds is None else max(base, min(asked_seconds, longest))
