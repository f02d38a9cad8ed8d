"""Turns a `GatewayError` of a run into the outcome of its job."""

from gateway.audit.facts import with_places
from gateway.errors import (
    GatewayError,
    LimitExceeded,
    Stopping,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from gateway.job_policy import JobPolicy
from gateway.jobs.backoff import wait_seconds
from gateway.jobs.outcome import Failed, Released, error_name
from gateway.store.records import Failure, Job


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
