"""How runs of jobs end: the interface between the worker and the runs of each kind.

A failed job waits by the policy of its kind, with jitter.
"""

import re
from random import SystemRandom
from typing import Final, Protocol

from msgspec import Struct

from gateway.audit.facts import with_places
from gateway.errors import (
    GatewayError,
    LimitExceeded,
    Stopping,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from gateway.job_policy import JobPolicy
from gateway.store.records import Changes, Claim, Failure, Job

NOTHING: Final = Changes()
"""No changes besides the job's own state."""
RUN_TIMEOUT: Final = "run_timeout"
"""The error of a run that was cancelled because it took too long."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_random: Final = SystemRandom()


class Failed(Struct, frozen=True, kw_only=True):
    """The attempt failed. `changes` are written in the same transaction."""

    failure: Failure
    retry_seconds: float | None
    """The wait until the next attempt (`wait_seconds`). None for a permanent failure."""
    changes: Changes = NOTHING


class Finished(Struct, frozen=True, kw_only=True):
    """The job is done. `changes` are written in the same transaction."""

    changes: Changes = NOTHING
    if_refused: Failed | None = None
    """The outcome if the store refuses this one. None counts it as a failed attempt."""


class Released(Struct, frozen=True, kw_only=True):
    """The job must wait, because of a limit or a closed gate. The attempt does not count."""

    delay_seconds: float = 0.0


class AwaitingInput(Struct, frozen=True, kw_only=True):
    """A task waits for answers of its client. The attempt does not count."""

    questions: bytes
    """The open questions, as JSON text."""
    answers: bytes
    """The answers so far, as JSON text."""


Outcome = Finished | Failed | Released | AwaitingInput


class Run(Protocol):
    """Runs one kind of job. It does not write to the store: its outcome names the changes.

    It is cancelled when the claim is lost or its time is up. An exception counts as a failed
    attempt. Only the class of the exception is stored.
    """

    async def __call__(self, claim: Claim) -> Outcome: ...


def error_name(error: BaseException) -> str:
    """The class of an error in the form of stored records, for example `upstream_unavailable`."""
    return _WORD.sub("_", type(error).__name__).lower()


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


def outcome_of(error: GatewayError, job: Job, policy: JobPolicy) -> Failed | Released:
    """The outcome after `error`. The error itself defines whether it is retryable.

    A reached limit does not count as a failed attempt: the job is released and waits.
    """
    if not error.is_retryable:
        return Failed(failure=_failure(error), retry_seconds=None)
    match error:
        case LimitExceeded(retry_after_seconds=asked):
            _, most = policy.limited_wait_seconds
            return Released(delay_seconds=min(max(asked, policy.busy_wait_seconds), most))
        case Stopping():
            return Released(delay_seconds=policy.busy_wait_seconds)
        case (
            UpstreamRateLimited(retry_after_seconds=asked)
            # Nothing was sent: the upstream fails or is busy.
            | UpstreamUnavailable(retry_after_seconds=int() | float() as asked)
        ):
            least, most = policy.limited_wait_seconds
            return Released(delay_seconds=min(max(asked or 0.0, least), most))
    return Failed(failure=_failure(error), retry_seconds=wait_seconds(policy, job))


def _failure(error: GatewayError) -> Failure:
    return Failure(error=error_name(error), detail=with_places(error))
