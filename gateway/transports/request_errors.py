"""Errors of requests and answers as transports read and send them."""

from gateway import errors


class RequestTooSlow(errors.CallerError):
    """The request did not arrive completely in time."""

    is_retryable = True


class NoRoomForBody(errors.LimitExceeded):
    """The bodies of requests use all the memory that they may use."""


class BadFraming(errors.MalformedRequest):
    """The end of the request is ambiguous, or it has a body where none is expected."""


class ResultTooLarge(errors.CallerError):
    """The call was made, but its result is too large to be sent to this client."""

    stage = "deliver"
