"""Everything that can go wrong, as one tree. A class's docstring is its default message.

    GatewayError
      CallerError        the caller can fix it
        MalformedRequest · PayloadTooLarge · UnsupportedMediaType · NotAcceptable · MethodNotAllowed
        MisdirectedRequest · ForbiddenOrigin · HeadersTooLarge · UnknownPath
        ForbiddenPeer · NotProven · ConflictingMessage
        Unauthenticated · UnknownOperation · NotPermitted · InvalidArguments · LimitExceeded
        Unsuitable
      ToolFailed         an error that the contract declares
      UpstreamError      the system behind the tool
        UpstreamUnavailable · UpstreamTimeout · UpstreamRejected · UpstreamRefusedCredentials
        UpstreamRateLimited · InvalidReply
      InvalidResult      the gateway's own answer would break its contract
      Stopping           the gateway ends before the call does
      NotRecorded        the call has run, and its audit record is not stored
      NotStored          the webhook is not known to be stored
      InternalError      a defect of the gateway
      OperatorError      never on the wire: start-up and command line
        ConfigurationError · ContractError · StoreError · AddressInUse · NotRunning

Errors are raised where the fact is known and mapped once, at each transport's edge, through
`gateway.transports.http.problems.PROBLEMS`; a test proves that map complete.
"""

from collections.abc import Sequence
from typing import ClassVar, Self

from gateway.contract.values.violation import MAX_VIOLATIONS, Violation


class GatewayError(Exception):
    """The call failed."""

    stage: ClassVar[str] = "call"
    """The step of the call that failed: the word the audit record and the log use."""
    is_retryable: bool = False
    """Whether the same call may succeed later without change, and has not happened meanwhile."""

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or (type(self).__doc__ or "").split("\n", maxsplit=1)[0]
        super().__init__(self.detail)


class CallerError(GatewayError):
    """The request cannot be served as it was sent."""

    stage = "request"


class MalformedRequest(CallerError):
    """The request is not well-formed."""


class PayloadTooLarge(CallerError):
    """The request body is larger than this gateway accepts."""


class HeadersTooLarge(CallerError):
    """The request headers are larger or more than this gateway accepts."""


class UnsupportedMediaType(CallerError):
    """The request body must be application/json without content coding."""


class NotAcceptable(CallerError):
    """None of the media types in Accept can be produced."""


class MethodNotAllowed(CallerError):
    """The method is not allowed here."""

    def __init__(self, detail: str | None = None, *, allow: Sequence[str] = ("POST",)) -> None:
        super().__init__(detail)
        self.allow = tuple(allow)


class MisdirectedRequest(CallerError):
    """The Host header does not name this gateway."""


class ForbiddenOrigin(CallerError):
    """The Origin is not allowed."""


class UnknownPath(CallerError):
    """Nothing exists at this path."""


class ForbiddenPeer(CallerError):
    """Messages of this source are not accepted from this network."""

    stage = "authenticate"


class NotProven(CallerError):
    """The message is not authenticated: look at its signature, secret and time.

    The same for whatever is wrong with a proof, so that trying reveals nothing.
    """

    stage = "authenticate"

    def __init__(self, detail: str | None = None, *, challenge: str = "Signature") -> None:
        super().__init__(detail)
        self.challenge = challenge
        """The authentication scheme that the source's contract asks for."""


class ConflictingMessage(CallerError):
    """Another message with this id was received before. Both are kept."""

    stage = "store"


class Unauthenticated(CallerError):
    """A valid key is required: send it as `Authorization: Bearer <key>`."""

    stage = "authenticate"

    def __init__(self, detail: str | None = None, *, presented: bool = False) -> None:
        super().__init__(detail)
        self.presented = presented
        """Whether the caller sent credentials at all (RFC 6750 asks for different challenges)."""


class UnknownOperation(CallerError):
    """There is no such tool, or this key may not call it."""

    stage = "authorize"


class NotPermitted(CallerError):
    """This key may call the tool, but not with these arguments."""

    stage = "authorize"


class InvalidArguments(CallerError):
    """The arguments do not match the tool's input schema."""

    stage = "validate"

    def __init__(self, violations: Sequence[Violation], detail: str | None = None) -> None:
        super().__init__(detail)
        self.violations = tuple(violations[:MAX_VIOLATIONS])

    @classmethod
    def at(cls, pointer: str, keyword: str, detail: str) -> Self:
        """The error for one argument."""
        return cls([Violation(pointer=pointer, keyword=keyword, detail=detail)])


class Unsuitable(CallerError):
    """What the request is about is not in a state that allows it."""


class LimitExceeded(CallerError):
    """Too many calls: try again later."""

    stage = "admit"
    is_retryable = True

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class ToolFailed(GatewayError):
    """The tool failed in a way its contract declares."""

    stage = "tool"

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(detail)
        self.explanation = detail
        """What the handler says of this case; None leaves it to the contract's title."""
        self.reason = reason
        """The error's name under `x-policy.errors` of the tool's contract."""
        self.status = 500
        """The HTTP status that the contract gives it; filled in where the contract is known."""


class UpstreamError(GatewayError):
    """The system behind this tool failed."""

    stage = "send"
    is_sent: bool = True
    """Whether the upstream may have got the request, so that a write may have happened."""


class UpstreamUnavailable(UpstreamError):
    """The upstream did not answer, or said that it cannot."""

    is_retryable = True

    def __init__(self, detail: str | None = None, *, is_sent: bool = True) -> None:
        super().__init__(detail)
        self.is_sent = is_sent


class UpstreamTimeout(UpstreamError):
    """The upstream did not answer in time."""

    is_retryable = True


class UpstreamRejected(UpstreamError):
    """The upstream refused the request."""


class UpstreamRefusedCredentials(UpstreamError):
    """The upstream refused this gateway's credentials."""


class UpstreamRateLimited(UpstreamError):
    """The upstream limits how often it may be called."""

    is_retryable = True

    def __init__(
        self, detail: str | None = None, *, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class InvalidReply(UpstreamError):
    """The upstream's answer breaks its contract."""

    stage = "reply"

    def __init__(self, detail: str | None = None, *, violations: Sequence[Violation] = ()) -> None:
        super().__init__(detail)
        self.violations = tuple(violations[:MAX_VIOLATIONS])


class InvalidResult(GatewayError):
    """The result would break the tool's output schema, so it was not sent."""

    stage = "result"

    def __init__(self, violations: Sequence[Violation], detail: str | None = None) -> None:
        super().__init__(detail)
        self.violations = tuple(violations[:MAX_VIOLATIONS])


class Stopping(GatewayError):
    """The gateway is stopping."""

    is_retryable = True


class NotRecorded(GatewayError):
    """The call was made, but could not be recorded yet: do not repeat it unseen."""

    stage = "record"


class NotStored(GatewayError):
    """Nobody knows whether the message is stored: send it again."""

    stage = "store"
    is_retryable = True
    retry_after_seconds = 5.0


class InternalError(GatewayError):
    """The gateway failed; the request id finds the cause in its log."""

    stage = "internal"


class OperatorError(GatewayError):
    """The gateway cannot do what was asked of it."""

    stage = "start"


class ConfigurationError(OperatorError):
    """A setting is wrong."""


class ContractError(OperatorError):
    """The contracts cannot be used."""


class StoreError(OperatorError):
    """The database cannot be used."""


class AddressInUse(OperatorError):
    """The address is taken by another program."""


class NotRunning(OperatorError):
    """The gateway is not running."""
