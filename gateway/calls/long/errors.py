"""The errors of requests for jobs."""

from gateway.errors import CallerError, StateConflict


class UnknownJob(CallerError):
    """You have no job with this id."""

    stage = "find"


class JobExpired(CallerError):
    """The job has ended, and its result is no longer kept."""

    stage = "find"


class JobUnderWay(StateConflict):
    """The job has not ended: ask again later."""

    stage = "find"
    is_retryable = True
    retry_after_seconds = 1.0
