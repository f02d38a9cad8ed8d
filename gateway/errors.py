"""The gateway's errors, in one hierarchy.

    GatewayError
      CallerError        the caller can fix it
        MalformedRequest · PayloadTooLarge · UnsupportedMediaType · NotAcceptable · MethodNotAllowed
        MisdirectedRequest · ForbiddenOrigin · HeadersTooLarge · UnknownPath · ForbiddenPeer
        UnauthenticatedMessage · ConflictingMessage · StateConflict · Unauthenticated
        UnknownOperation · ReplacedTool · NotPermitted · InvalidArguments · LimitExceeded
      ToolFailed         an error that the contract declares
      UpstreamError      the system behind the tool
        UpstreamUnavailable · UpstreamTimeout · UpstreamRejected · UpstreamRefusedCredentials
        UpstreamNotSetUp · UpstreamRateLimited · InvalidReply
      InvalidResult      the result would break its contract
      Stopping           the gateway stops before the call ends
      NotRecorded        the call was made, and its audit record is not stored
      InternalError      a defect of the gateway
      OperatorError      never on the wire: start-up and command line
        ConfigurationError · ContractError · StoreError · AddressInUse · NotRunning

The first line of each docstring is the default message. Each transport maps them to problems once,
by `gateway.transports.http.problem_kinds.PROBLEMS`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from gateway.contract.values.violation import MAX_VIOLATIONS, Violation

if TYPE_CHECKING:  # it loads the validator of JSON Schema
    from gateway.contract.operation import Operation
    from gateway.contract.refusals import UpstreamAnswer


class GatewayError(Exception):
    """The call failed."""

    stage: ClassVar[str] = "call"
    """The step of the call that failed, as audit records and logs name it."""
    is_retryable: bool = False
    """Whether the unchanged request may succeed later and is safe to repeat."""
    frees_key: bool = False
    """Whether its idempotency key may be used again: it changed nothing. So if it is retryable."""
    answer: "UpstreamAnswer | None" = None
    """What the upstream said, if an answer of it is the reason."""
    is_answer_logged: bool = False
    """Whether the log gets `answer` too: a known refusal, hardly about the arguments."""

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
    """The request headers are too large or too many for this gateway."""


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


class UnauthenticatedMessage(CallerError):
    """The message is not authenticated: check its signature, secret and time."""

    # The same for every failed check, so that attempts reveal nothing.
    stage = "authenticate"

    def __init__(self, *, challenge: str = "Signature") -> None:
        super().__init__()
        self.challenge = challenge  # the scheme that the source's contract requires


class ConflictingMessage(CallerError):
    """Another message with this id was received before. Both are kept."""

    stage = "store"


class Unauthenticated(CallerError):
    """A valid key is required: send it as `Authorization: Bearer <key>`."""

    stage = "authenticate"

    def __init__(self, *, presented: bool = False) -> None:
        super().__init__()
        self.presented = presented  # whether it sent any: RFC 6750 has two challenges


class UnknownOperation(CallerError):
    """There is no such tool, or this key may not call it."""

    stage = "authorize"


class ReplacedTool(UnknownOperation):
    """The tool has been replaced."""

    route: str | None = None
    """The REST path of its successor."""

    @classmethod
    def by(cls, successor: "Operation", gone: str) -> Self:
        """The refusal of a call of `gone`, which names its successor."""
        name = successor.id.replace(".", "_", 1)
        calls = f"POST {successor.route}, or {name} over MCP"
        error = cls(f"{gone} has been replaced by {successor.id}: {calls}.")
        error.route = successor.route
        return error


class NotPermitted(CallerError):
    """This key may call the tool, but not with these arguments."""

    stage = "authorize"

    def __init__(self, detail: str | None = None, violations: Sequence[Violation] = ()) -> None:
        super().__init__(detail)
        self.violations = tuple(violations[:MAX_VIOLATIONS])


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


class StateConflict(CallerError):
    """The current state does not allow this request."""


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
        """The handler's text about this case. None means the title in the contract."""
        self.reason = reason
        """The error's name under `x-policy.errors` of the tool's contract."""
        self.status = 500
        """The HTTP status that the contract declares. `Dispatcher` sets it."""


class UpstreamError(GatewayError):
    """The system behind this tool failed."""

    stage = "send"
    is_sent: bool = True
    """Whether the upstream may have received the request, so that a write may have happened."""
    retry_after_seconds: float | None = None


class UpstreamUnavailable(UpstreamError):
    """The upstream did not answer, or answered that it is unavailable."""

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


class UpstreamNotSetUp(UpstreamError):
    """The upstream is not set up for this gateway."""


class UpstreamRateLimited(UpstreamError):
    """The upstream limits how often it may be called."""

    is_retryable = True

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float | None = None):
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

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__()
        self.violations = tuple(violations[:MAX_VIOLATIONS])


class Stopping(GatewayError):
    """The gateway is stopping."""

    is_retryable = True


class NotRecorded(GatewayError):
    """The call was made, but could not be recorded yet: check its effect before you repeat it."""

    stage = "record"


class InternalError(GatewayError):
    """The gateway failed: its log shows the cause under the request id."""

    stage = "internal"


class OperatorError(GatewayError):
    """The gateway cannot start, or cannot run this command."""

    stage = "start"


class ConfigurationError(OperatorError):
    """A setting is wrong."""


class ContractError(OperatorError):
    """The contracts cannot be used."""


class StoreError(OperatorError):
    """The database cannot be used."""


class AddressInUse(OperatorError):
    """The address is in use by another program."""


class NotRunning(OperatorError):
    """The gateway is not running."""
