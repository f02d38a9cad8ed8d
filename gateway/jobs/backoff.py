"""How long failed work waits: a schedule for each kind of job, with jitter."""

from collections.abc import Mapping
from random import SystemRandom
from types import MappingProxyType
from typing import Final

from gateway.store.records import Job, JobKind

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
_DOUBLING: Final = tuple(2.0**n * _MINUTE for n in range(1, 6))

SCHEDULES: Final[Mapping[JobKind, tuple[float, ...]]] = MappingProxyType(
    {
        "webhook": _DOUBLING,
        "call": _DOUBLING,
        # The schedule that Standard Webhooks 1.0.0 recommends: the tenth attempt is 75 hours and
        # 35 minutes after the first.
        "delivery": (
            5.0,
            5 * _MINUTE,
            30 * _MINUTE,
            *(hours * _HOUR for hours in (2, 5, 10, 14, 20, 24)),
        ),
    }
)
"""Seconds after the first attempt, the second, …"""

JITTER: Final = (0.8, 1.2)
"""Each wait is multiplied by a number between these, so that what failed together parts."""

_random: Final = SystemRandom()


def wait_seconds(job: Job, asked_seconds: float | None = None) -> float | None:
    """How long `job` waits after its latest attempt; None when it was the last one.

    `asked_seconds` is what the other side wants (`Retry-After`): it may lengthen the wait up to
    twice, and never shortens it.
    """
    if job.attempts >= job.max_attempts:
        return None
    schedule = SCHEDULES[job.kind]
    base = schedule[min(max(job.attempts, 1), len(schedule)) - 1] * _random.uniform(*JITTER)
    return base if asked_seconds is None else min(max(asked_seconds, base), 2 * base)
