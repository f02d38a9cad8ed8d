"""Errors as callers see them: RFC 9457 problem details, the same over every transport."""

import logging
from collections.abc import Iterable
from math import ceil
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway import errors
from gateway.audit.facts import logged_text
from gateway.audit.log import NotBegun
from gateway.auth.principal import KeyNotChecked
from gateway.calls.asking import CapabilityMissing
from gateway.calls.caching.answers import NotAnnounced
from gateway.calls.guard import NotSent
from gateway.calls.idempotency import AnsweredBefore, CallUnderWay
from gateway.calls.jobs.owned import JobUnderWay
from gateway.contract.operation import Requirement
from gateway.contract.refusals import UpstreamAnswer, with_sentence
from gateway.contract.values.hidden import visible_text
from gateway.contract.values.violation import Violation
from gateway.limits.standing import LimitFacts, LimitUsedUp, NotCounted
from gateway.observability.defects import log_defect
from gateway.observability.repeats import ERROR
from gateway.transports.errors import BadFraming, NoRoomForBody, ProblemKind, RequestTooSlow
from gateway.transports.http.asgi import Headers, Send, respond
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.webhooks.ingest import NotStored

_log = logging.getLogger(__name__)

PROBLEM_JSON: Final = b"application/problem+json"
CLOSE: Final = (b"connection", b"close")
_LAST: Final = (errors.PayloadTooLarge, RequestTooSlow, NoRoomForBody, BadFraming)
"""Errors after which the connection is closed."""


class Problem(Struct, frozen=True, kw_only=True):
    """RFC 9457 problem details, with this gateway's extension members."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    retryable: bool
    reason: str | UnsetType = UNSET
    """The declared error's name under `x-policy.errors`."""
    retry_after: int | UnsetType = UNSET
    """Seconds."""
    limit: LimitFacts | UnsetType = UNSET
    """The limit that refused the call, and what the caller has used of it."""
    violated_policies: tuple[str, ...] | UnsetType = msgspec.field(
        default=UNSET, name="violated-policies"
    )
    """The names of all limits that refused it, as draft-ietf-httpapi-ratelimit-headers has them."""
    errors: tuple[Violation, ...] | UnsetType = UNSET
    requires: tuple[Requirement, ...] | UnsetType = UNSET
    """What the client must declare to call the tool over MCP."""
    upstream: UpstreamAnswer | UnsetType = UNSET
    """What the system behind the tool said. Its texts are not the gateway's."""


_read_problem: Final = msgspec.json.Decoder(Problem).decode


def problem_of(error: BaseException, request_id: str) -> Problem:
    """`error` for its caller, without internals of the gateway and without argument values."""
    if isinstance(error, AnsweredBefore):
        return replace(_read_problem(error.problem), request_id=request_id)
    known = error if isinstance(error, errors.GatewayError) else errors.InternalError()
    kind = kind_of(known)
    retry_after = _retry_after(known)
    answer = known.answer if _is_for_caller(known) else None
    return Problem(
        type=f"/problems/{kind.slug}",
        title=kind.title,
        status=_status(known, kind),
        detail=visible_text(with_sentence(_detail(known), answer))[0],
        code=kind.code,
        request_id=request_id,
        retryable=known.is_retryable,
        reason=known.reason if isinstance(known, errors.ToolFailed) else UNSET,
        retry_after=UNSET if retry_after is None else retry_after,
        limit=known.facts if isinstance(known, LimitUsedUp) else UNSET,
        requires=known.required if isinstance(known, CapabilityMissing) else UNSET,
        violated_policies=known.violated if isinstance(known, LimitUsedUp) else UNSET,
        errors=tuple(map(_visible, _violations(known))) or UNSET,
        upstream=UNSET if answer is None else answer,
    )


def classify(error: BaseException) -> tuple[int, str]:
    """The HTTP status and the code of `error`, for the audit record."""
    if isinstance(error, AnsweredBefore):
        before = _read_problem(error.problem)
        return before.status, before.code
    known = error if isinstance(error, errors.GatewayError) else errors.InternalError()
    kind = kind_of(known)
    return _status(known, kind), kind.code


def described(error: errors.GatewayError) -> bytes:
    """The problem of `error` as JSON text, to be kept. `AnsweredBefore` raises it again."""
    return msgspec.json.encode(problem_of(error, ""))


def kind_of(error: errors.GatewayError) -> ProblemKind:
    """The kind of `error`: that of its class, or of the nearest parent class."""
    return next(PROBLEMS[cls] for cls in type(error).__mro__ if cls in PROBLEMS)


def problem_headers(error: BaseException) -> Headers:
    """The header fields that HTTP requires for the status of this error."""
    fields = _own_headers(error)
    # The rest of the body is not read, or its end is unknown, so the connection cannot
    # be used again.
    return [*fields, CLOSE] if isinstance(error, _LAST) else fields


def _own_headers(error: BaseException) -> Headers:
    match error:
        case errors.Unauthenticated(presented=presented):
            error_code = b', error="invalid_token"' if presented else b""
            return [(b"www-authenticate", b'Bearer realm="gateway"' + error_code)]
        case errors.UnauthenticatedMessage(challenge=challenge):
            return [(b"www-authenticate", f'{challenge} realm="webhooks"'.encode("ascii"))]
        case errors.MethodNotAllowed(allow=allow):
            return [(b"allow", ", ".join(allow).encode("ascii"))]
        case errors.ReplacedTool(route=str(route)):
            return [successor_link(route)]
        case errors.GatewayError() if (seconds := _retry_after(error)) is not None:
            return [(b"retry-after", b"%d" % seconds)]
        case _:
            return []


def successor_link(route: str) -> tuple[bytes, bytes]:
    """The header field that points from a tool to its successor (RFC 5829)."""
    return b"link", f'<{route}>; rel="successor-version"'.encode("ascii")


def log_failure(error: BaseException, request_id: str) -> None:
    """Log what concerns the operator: defects, failures, and the codes of upstreams' refusals."""
    if not isinstance(error, errors.GatewayError):
        log_defect(_log, error, "request %s: unexpected error", request_id)
    elif _status(error, kind_of(error)) >= 500:
        name = type(error).__name__
        text = logged_text(error)
        _log.warning("request %s: %s: %s", request_id, name, text, extra={ERROR: name})
    elif isinstance(error, errors.UpstreamRejected):
        _log.info("request %s: %s", request_id, logged_text(error))


def written(error: BaseException, request_id: str) -> tuple[int, Headers, bytes]:
    """The problem+json answer for `error`: its status, its own headers and its body."""
    problem = problem_of(error, request_id)
    return problem.status, problem_headers(error), msgspec.json.encode(problem)


async def send_problem(
    send: Send, error: BaseException, request_id: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Log `error` for the operator, and send it as problem+json with `headers`."""
    log_failure(error, request_id)
    await send_refusal(send, error, request_id, headers)


async def send_refusal(
    send: Send, error: BaseException, request_id: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send `error` as problem+json. Log nothing."""
    status, own, body = written(error, request_id)
    release(error)
    await respond(send, status, body, content_type=PROBLEM_JSON, headers=[*own, *headers])


def release(error: BaseException) -> None:
    """Drop the traceback of an error that has been logged and translated.

    The frames in it hold the error, the call and its body, and the error holds the frames. Only
    Python's garbage collector frees such a circle, and all calls stop while it searches.
    """
    error.__traceback__ = None


def _status(error: errors.GatewayError, kind: ProblemKind) -> int:
    return error.status if isinstance(error, errors.ToolFailed) else kind.status


def _detail(error: errors.GatewayError) -> str:
    """The text of the error, or a general text if it describes internals of the gateway."""
    is_inside = isinstance(error, errors.InternalError | errors.OperatorError)
    return errors.InternalError().detail if is_inside else error.detail


def _retry_after(error: errors.GatewayError) -> int | None:
    match error:
        case (
            errors.LimitExceeded(retry_after_seconds=seconds)
            | CallUnderWay(retry_after_seconds=seconds)
            | NotBegun(retry_after_seconds=seconds)
            | NotAnnounced(retry_after_seconds=seconds)
            | NotCounted(retry_after_seconds=seconds)
            | KeyNotChecked(retry_after_seconds=seconds)
            | JobUnderWay(retry_after_seconds=seconds)
            | NotStored(retry_after_seconds=seconds)
            | NotSent(retry_after_seconds=seconds)
        ):
            return max(1, ceil(seconds))
        case errors.UpstreamRateLimited(retry_after_seconds=seconds) if seconds is not None:
            return max(1, ceil(seconds))
        case _:
            return None


def _visible(violation: Violation) -> Violation:
    """The violation without hidden characters: the caller or upstream chose the member names."""
    return Violation(
        pointer=visible_text(violation.pointer)[0],
        keyword=violation.keyword,
        detail=visible_text(violation.detail)[0],
    )


def _is_for_caller(error: errors.GatewayError) -> bool:
    """Whether the caller may read the upstream's answer: it is no matter of the operator."""
    told = errors.ToolFailed, errors.UpstreamRejected, errors.UpstreamNotSetUp, errors.InvalidReply
    return isinstance(error, told)


def _violations(error: errors.GatewayError) -> tuple[Violation, ...]:
    match error:
        case errors.InvalidArguments() | errors.NotPermitted():
            return error.violations
        case errors.InvalidReply() | errors.InvalidResult():
            return error.violations
        case _:
            return ()
