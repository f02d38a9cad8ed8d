"""Errors of requests and answers, and what a kind of problem is."""

from typing import Final

from msgspec import Struct

from gateway import errors


class ProblemKind(Struct, frozen=True):
    """What all problems of one kind share."""

    status: int
    code: str
    """The stable name of the kind, for programs."""
    slug: str
    """The last segment of the problem's type, `/problems/<slug>`."""
    title: str
    advice: str
    """What the caller can do about it."""


FIX: Final = "Correct the request and send it again."
LATER: Final = "Try again later."
LOOK: Final = (
    "Try again later if the problem is `retryable`. If not, a write may have happened: check first."
)
OPERATOR: Final = "Report the request id to the operator of this gateway."
WAIT: Final = "Wait for the seconds that `retry_after` names, then try again."

MALFORMED: Final = ProblemKind(
    400, "VALIDATION_ERROR", "malformed-request", "The request is not well-formed", FIX
)
TOO_LARGE: Final = ProblemKind(
    413, "PAYLOAD_TOO_LARGE", "payload-too-large", "The request body is too large", FIX
)
NOT_SET_UP: Final = ProblemKind(
    502,
    "TRANSPORT_ERROR",
    "upstream-not-set-up",
    "The system behind this tool is not set up for the gateway",
    "The operator must do what `detail` says. Until then, calls like this one fail.",
)


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
