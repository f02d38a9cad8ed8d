"""The table of problems: what clients see for each error of the gateway."""

from collections.abc import Mapping
from typing import Final

from gateway import errors
from gateway.audit.log import NotBegun
from gateway.auth.principal import KeyNotChecked
from gateway.calls import idempotency as keyed
from gateway.calls.asking import (
    CapabilityMissing,
    InputRequired,
    InvalidAnswer,
    NotAnswered,
    StateRefused,
)
from gateway.calls.caching.answers import NotAnnounced
from gateway.calls.effects import WrongEffect
from gateway.calls.guard import NotSent
from gateway.calls.jobs.owned import JobExpired, JobUnderWay, UnknownJob
from gateway.errors import GatewayError
from gateway.limits.standing import NotCounted
from gateway.transports.errors import (
    FIX,
    LATER,
    LOOK,
    MALFORMED,
    NOT_SET_UP,
    OPERATOR,
    TOO_LARGE,
    WAIT,
    BadFraming,
    ProblemKind,
    RequestTooSlow,
    ResultTooLarge,
)
from gateway.webhooks.ingest import NotStored

CLIENT_PROBLEMS: Final[Mapping[type[GatewayError], ProblemKind]] = {
    CapabilityMissing: ProblemKind(
        400,
        "CAPABILITY_MISSING",
        "capability-missing",
        "The client cannot do what the tool needs",
        "Use an MCP client that declares what `requires` names. Tools that require only tasks can"
        " be called over REST.",
    ),
    InputRequired: ProblemKind(
        428,
        "INPUT_REQUIRED",
        "input-required",
        "The tool asks its client for input",
        "This is the outcome of a round in audit records. Clients of MCP get the questions instead,"
        " and repeat the call with the answers.",
    ),
    InvalidAnswer: ProblemKind(
        400,
        "INVALID_ANSWER",
        "invalid-answer",
        "The answer to a question of the tool is not valid",
        "Answer again, as the question's schema says.",
    ),
    NotAnswered: ProblemKind(
        408,
        "NOT_ANSWERED",
        "not-answered",
        "The client did not answer a question of the tool",
        "Nothing was changed. Call the tool again when its question can be answered.",
    ),
    StateRefused: ProblemKind(
        400,
        "STATE_REFUSED",
        "state-refused",
        "The state of the call is not valid, or it has expired",
        "Repeat `requestState` exactly as it was given, with the same arguments and the same key,"
        " within ten minutes; or call the tool again from the beginning.",
    ),
}


_INTERNAL = ProblemKind(500, "INTERNAL_ERROR", "internal-error", "The gateway failed", OPERATOR)

PROBLEMS: Final[Mapping[type[errors.GatewayError], ProblemKind]] = {
    errors.GatewayError: _INTERNAL,
    errors.CallerError: ProblemKind(
        400, "VALIDATION_ERROR", "bad-request", "The request cannot be served", FIX
    ),
    errors.MalformedRequest: MALFORMED,
    BadFraming: ProblemKind(
        400,
        "VALIDATION_ERROR",
        "bad-framing",
        "The request does not say clearly where it ends",
        "Send one `Content-Length`, or `Transfer-Encoding: chunked`; with GET and HEAD, no body.",
    ),
    errors.PayloadTooLarge: TOO_LARGE,
    errors.HeadersTooLarge: ProblemKind(
        431, "HEADERS_TOO_LARGE", "headers-too-large", "The request headers are too large", FIX
    ),
    RequestTooSlow: ProblemKind(
        408, "TIMEOUT_ERROR", "body-too-slow", "The request was sent too slowly", LATER
    ),
    errors.UnsupportedMediaType: ProblemKind(
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "unsupported-media-type",
        "The request body is of the wrong type",
        "Send the body as `Content-Type: application/json`, without `Content-Encoding`.",
    ),
    errors.NotAcceptable: ProblemKind(
        406,
        "NOT_ACCEPTABLE",
        "not-acceptable",
        "No acceptable media type",
        "Leave `Accept` out, or let it admit what the answer can be: `application/json` at `/v1`,"
        " `text/event-stream` at `/events`, and at `/mcp` either of the two.",
    ),
    errors.MethodNotAllowed: ProblemKind(
        405,
        "METHOD_NOT_ALLOWED",
        "method-not-allowed",
        "The method is not allowed here",
        "Use a method that the answer's `Allow` header names.",
    ),
    errors.MisdirectedRequest: ProblemKind(
        421,
        "MISDIRECTED_REQUEST",
        "misdirected-request",
        "The Host header does not name this gateway",
        "Call the gateway by a name of the setting `allowed_hosts`, or add the name there.",
    ),
    errors.ForbiddenOrigin: ProblemKind(
        403,
        "FORBIDDEN_ORIGIN",
        "forbidden-origin",
        "The Origin is not allowed",
        "Add the origin to the setting `allowed_origins` if its pages may call this gateway.",
    ),
    errors.UnknownPath: ProblemKind(
        404,
        "PATH_NOT_FOUND",
        "path-not-found",
        "Nothing exists at this path",
        "Check the path and the id in it; lists show the existing ids.",
    ),
    errors.ForbiddenPeer: ProblemKind(
        403,
        "FORBIDDEN_NETWORK",
        "forbidden-network",
        "Messages of this source are not accepted from this network",
        "Add the network to the setting `webhooks.<provider>.allow`, or the proxy in between to"
        " `trusted_proxies`.",
    ),
    errors.UnauthenticatedMessage: ProblemKind(
        401,
        "UNAUTHENTICATED_MESSAGE",
        "unauthenticated-message",
        "The message is not authenticated",
        "Compare the sender's secret with the gateway's, and the sender's clock with the time."
        " Sign exactly the bytes that are sent.",
    ),
    errors.ConflictingMessage: ProblemKind(
        409,
        "CONFLICTING_MESSAGE",
        "conflicting-message",
        "Another message with this id was received before",
        "Both are kept, and the gateway's operator is notified. Give each message its own id.",
    ),
    errors.Unauthenticated: ProblemKind(
        401,
        "AUTHENTICATION_ERROR",
        "authentication-required",
        "A valid key is required",
        "Send a key that is not revoked as `Authorization: Bearer <key>`.",
    ),
    KeyNotChecked: ProblemKind(
        503, "KEY_NOT_CHECKED", "key-not-checked", "The key could not be checked", WAIT
    ),
    errors.UnknownOperation: ProblemKind(
        404,
        "TOOL_NOT_FOUND",
        "tool-not-found",
        "There is no such tool",
        "List the tools that this key may call, over MCP or with `gateway access`.",
    ),
    errors.ReplacedTool: ProblemKind(
        410,
        "TOOL_REPLACED",
        "tool-replaced",
        "The tool has been replaced",
        "Read the contract of the tool that `detail` names, and call that one.",
    ),
    errors.NotPermitted: ProblemKind(
        403,
        "PERMISSION_ERROR",
        "not-permitted",
        "This key may not call the tool with these arguments",
        "Change what `errors` or `detail` names to what the tool's schema in your list allows, or"
        " use a key of an agent that may do this.",
    ),
    WrongEffect: ProblemKind(
        403,
        "WRONG_EFFECT",
        "wrong-effect",
        "Another tool calls tools with this effect",
        "Call the tool with the one that `detail` names.",
    ),
    errors.InvalidArguments: ProblemKind(
        422,
        "VALIDATION_ERROR",
        "invalid-arguments",
        "The arguments do not match the tool's input schema",
        "Fix each place that `errors` points to.",
    ),
    ResultTooLarge: ProblemKind(
        422,
        "RESULT_TOO_LARGE",
        "result-too-large",
        "The result is too large to be sent over MCP",
        "Ask for less: name members in the argument `fields`, or use narrower arguments.",
    ),
    errors.StateConflict: ProblemKind(
        409,
        "CONFLICT",
        "conflict",
        "The current state does not allow this",
        "Check the state that `detail` names; wait, or make another request.",
    ),
    keyed.CallUnderWay: ProblemKind(
        409, "CALL_UNDER_WAY", "call-under-way", "The first call is still running", WAIT
    ),
    keyed.KeyReused: ProblemKind(
        422, "IDEMPOTENCY_KEY_REUSED", "idempotency-key-reused", "The key is of another call", FIX
    ),
    keyed.OutcomeUnknown: ProblemKind(
        409,
        "OUTCOME_UNKNOWN",
        "outcome-unknown",
        "It is not known what the call did",
        "Check whether the call had its effect. If it had none, make it with a new key.",
    ),
    UnknownJob: ProblemKind(
        404,
        "JOB_NOT_FOUND",
        "job-not-found",
        "You have no job with this id",
        "Check the id, and use the key that made the call. `GET /v1/jobs` lists your jobs.",
    ),
    JobExpired: ProblemKind(
        410,
        "JOB_EXPIRED",
        "job-expired",
        "The result of the job is no longer kept",
        "Check whether the call had its effect. If you need it again, make a new call.",
    ),
    JobUnderWay: ProblemKind(409, "JOB_UNDER_WAY", "job-under-way", "The job has not ended", WAIT),
    errors.LimitExceeded: ProblemKind(
        429, "RATE_LIMIT_ERROR", "limit-exceeded", "Too many calls", WAIT
    ),
    NotCounted: ProblemKind(
        503, "NOT_COUNTED", "not-counted", "The limits of the call could not be checked", WAIT
    ),
    NotAnnounced: ProblemKind(
        503, "NOT_ANNOUNCED", "not-announced", "Other processes could not be notified", WAIT
    ),
    errors.ToolFailed: ProblemKind(
        500,
        "TOOL_EXECUTION_ERROR",
        "tool-failed",
        "The tool failed in a way its contract declares",
        "Read `reason`: the tool's reference page explains each of its errors.",
    ),
    errors.UpstreamError: ProblemKind(
        502, "TRANSPORT_ERROR", "upstream-failed", "The system behind this tool failed", LATER
    ),
    errors.UpstreamUnavailable: ProblemKind(
        503,
        "TRANSPORT_ERROR",
        "upstream-unavailable",
        "The system behind this tool is unavailable",
        LOOK,
    ),
    NotSent: ProblemKind(
        503,
        "TRANSPORT_ERROR",
        "not-sent",
        "The system behind this tool gets no requests for now",
        WAIT,
    ),
    errors.UpstreamTimeout: ProblemKind(
        504,
        "TIMEOUT_ERROR",
        "upstream-timeout",
        "The system behind this tool did not answer in time",
        LOOK,
    ),
    errors.UpstreamRejected: ProblemKind(
        422,
        "UPSTREAM_REJECTED",
        "upstream-rejected",
        "The system behind this tool refused the request",
        "Read what it said in `upstream`, and correct the values of the call, such as ids.",
    ),
    errors.UpstreamRefusedCredentials: ProblemKind(
        502,
        "TRANSPORT_ERROR",
        "upstream-refused-credentials",
        "The system behind this tool refused the gateway's credentials",
        "The operator must renew the credentials of the system that `detail` names:"
        " `gateway config` says where they are set.",
    ),
    errors.UpstreamNotSetUp: NOT_SET_UP,
    errors.UpstreamRateLimited: ProblemKind(
        429,
        "RATE_LIMIT_ERROR",
        "upstream-rate-limited",
        "The system behind this tool limits how often it may be called",
        WAIT,
    ),
    errors.InvalidReply: ProblemKind(
        502,
        "TRANSPORT_ERROR",
        "invalid-reply",
        "The answer of the system behind this tool breaks its contract",
        OPERATOR,
    ),
    errors.InvalidResult: ProblemKind(
        502,
        "TOOL_EXECUTION_ERROR",
        "invalid-result",
        "The result would break the tool's output schema",
        OPERATOR,
    ),
    **CLIENT_PROBLEMS,
    errors.Stopping: ProblemKind(
        503, "STOPPING", "gateway-stopping", "The gateway is stopping", LOOK
    ),
    keyed.AnsweredBefore: _INTERNAL,
    NotBegun: ProblemKind(
        503, "NOT_RECORDED", "not-begun", "The call could not be recorded", LATER
    ),
    errors.NotRecorded: ProblemKind(
        500,
        "INTERNAL_ERROR",
        "not-recorded",
        "The call was made, but could not be recorded",
        "Check what the call has done; do not repeat it. Report the request id to the operator.",
    ),
    NotStored: ProblemKind(
        503,
        "NOT_STORED",
        "not-stored",
        "The message may not have been stored",
        "Send the same message again, with the same id, after the seconds of `retry_after`.",
    ),
    errors.InternalError: _INTERNAL,
    errors.OperatorError: _INTERNAL,
    errors.StoreError: ProblemKind(
        503, "INTERNAL_ERROR", "store-unavailable", "The gateway's database failed", OPERATOR
    ),
}
"""Error class to kind. A class that is not in the table has the kind of its nearest parent."""

ADVICE: Final = {f"/problems/{kind.slug}": kind.advice for kind in PROBLEMS.values()}
"""The type of a problem to the advice for its caller."""
