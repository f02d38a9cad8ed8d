"""What a `GatewayError` means for the job in whose run it was raised."""

from typing import Final

from gateway.errors import (
    GatewayError,
    InvalidArguments,
    InvalidReply,
    InvalidResult,
    LimitExceeded,
    Stopping,
    UpstreamRateLimited,
)
from gateway.jobs.backoff import wait_seconds
from gateway.jobs.outcome import Failed, Released, error_name
from gateway.store.records import Failure, Job

_BUSY_SECONDS: Final = 1.0
_LIMITED_SECONDS: Final = (5.0, 3600.0)
"""How long a job waits that an upstream's limit stopped, whatever the upstream says."""


def outcome_of(error: GatewayError, job: Job) -> Failed | Released:
    """Whether to try again, by the error's own word.

    A limit is nobody's failure, so it does not count: the job waits until it may go on.
    """
    if not error.is_retryable:
        return Failed(failure=_failure(error), retry_seconds=None)
    match error:
        case LimitExceeded() | Stopping():
            return Released(delay_seconds=_BUSY_SECONDS)
        case UpstreamRateLimited(retry_after_seconds=asked):
            least, most = _LIMITED_SECONDS
            return Released(delay_seconds=min(max(asked or 0.0, least), most))
    return Failed(failure=_failure(error), retry_seconds=wait_seconds(job))


def _failure(error: GatewayError) -> Failure:
    places = ""
    if isinstance(error, InvalidReply | InvalidArguments | InvalidResult):
        places = "".join(f" {each.pointer or '/'}: {each.detail}." for each in error.violations[:5])
    return Failure(error=error_name(error), detail=error.detail + places)
