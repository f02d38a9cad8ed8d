"""The errors of JSON-RPC that MCP clients see: one table, for every method and transport.

What fails is a `Problem` first, as over REST. `json_rpc` refuses texts that are no message.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from gateway.calls.asking import CapabilityMissing, InvalidAnswer, NotAnswered, StateRefused
from gateway.calls.idempotency import OutcomeUnknown
from gateway.calls.jobs.owned import JobExpired, UnknownJob
from gateway.contract.offered import LONGEST_URI
from gateway.contract.operation import Requirement
from gateway.contract.values.hidden import visible_text
from gateway.errors import (
    GatewayError,
    InvalidArguments,
    LimitExceeded,
    MalformedRequest,
    UnknownOperation,
)
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.transports.http.problems import Problem
from gateway.transports.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError
from gateway.transports.mcp.protocol import CAPABILITY_OF, ProtocolRevision

CAPABILITY_MISSING: Final = -32021
_LIMITED: Final = -32000
"""The first of the codes that JSON-RPC leaves to servers."""
CANCELLED: Final = RpcError(-32800, "Request cancelled")
"""The error with which the SDK answers a request that its client has cancelled."""
HTTP_STATUSES: Final[Mapping[int, int]] = {
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    CAPABILITY_MISSING: 400,
}
"""The code of each error of a call to its HTTP status, since 2026-07-28."""
_NOT_FOUND: Final = 404
_SHOWN: Final = 128


def _type_of(error: type[GatewayError]) -> str:
    return f"/problems/{PROBLEMS[error].slug}"


_CODES: Final[Mapping[str, int]] = {
    _type_of(UnknownOperation): INVALID_PARAMS,
    _type_of(UnknownJob): INVALID_PARAMS,
    _type_of(JobExpired): INVALID_PARAMS,
    _type_of(InvalidArguments): INVALID_PARAMS,
    _type_of(MalformedRequest): INVALID_PARAMS,
    _type_of(InvalidAnswer): INVALID_PARAMS,
    _type_of(NotAnswered): INVALID_PARAMS,
    _type_of(StateRefused): INVALID_PARAMS,
    _type_of(CapabilityMissing): CAPABILITY_MISSING,
    _type_of(LimitExceeded): _LIMITED,
}
"""The type of a problem to its code. All others are internal errors, but for what does not exist:
see `RequestTarget.not_found`."""
_UNKNOWN_TOOL: Final = _type_of(UnknownOperation)
_UNKNOWN: Final = frozenset({_UNKNOWN_TOOL, _type_of(UnknownJob)})
_REFUSED_INPUT: Final = {
    _type_of(InvalidAnswer): "Invalid params",
    _type_of(StateRefused): "Invalid or expired requestState",
}
"""The problems of what a client sends besides the arguments, with their messages."""
_OF_JOBS: Final[Mapping[str, int]] = {
    PROBLEMS[each].code: _CODES.get(_type_of(each), INTERNAL_ERROR)
    for each in (UnknownOperation, OutcomeUnknown)
}
"""The problems that are no answer of the tool, with their codes: it is not granted any more, and
nobody knows whether the call was made."""


class RequestTarget(Struct, frozen=True, kw_only=True):
    """What a request names. Whether it does not exist or the caller may not see it is the same."""

    unknown: str
    """The message of the error for both."""
    has_problem: bool = True
    """Whether this error has the problem too."""
    about: Mapping[str, Any] = {}
    """What errors say of it."""

    def not_found(self, problem: Problem | None = None) -> RpcError:
        """The error of a request that names what is not there for its caller."""
        shown = msgspec.to_builtins(problem) if problem and self.has_problem else {}
        return RpcError(INVALID_PARAMS, self.unknown, {**self.about, **shown} or None)


TASK: Final = RequestTarget(unknown="Task not found")


def resource(uri: str) -> RequestTarget:
    """The resource `uri`."""
    about = {"uri": visible_text(uri[:LONGEST_URI])[0]}
    return RequestTarget(unknown="Resource not found", has_problem=False, about=about)


def prompt(name: str) -> RequestTarget:
    """The prompt `name`."""
    return RequestTarget(
        unknown=f"Unknown prompt: {visible_text(name[:_SHOWN])[0]}", has_problem=False
    )


def tool(name: str) -> RequestTarget:
    """The tool `name`."""
    return RequestTarget(unknown=f"Unknown tool: {visible_text(name[:_SHOWN])[0]}")


def error_of(problem: Problem, target: RequestTarget) -> RpcError:
    """The error of a request that fails with `problem`. All methods but calls of tools have it."""
    if problem.type in _UNKNOWN:
        return target.not_found(problem)
    is_missing = problem.status == _NOT_FOUND
    code = INVALID_PARAMS if is_missing else _CODES.get(problem.type, INTERNAL_ERROR)
    about = target.about if code == INVALID_PARAMS else {}
    return RpcError(code, problem.detail, {**about, **msgspec.to_builtins(problem)})


def error_of_call(problem: Problem, name: str, revision: ProtocolRevision) -> RpcError | None:
    """The error for a failed call of the tool `name`. None: its result is the failure.

    It is one if there is no such tool for this caller, or if the client must declare more first.
    """
    if problem.type == _UNKNOWN_TOOL:
        return tool(name).not_found(problem)
    if revision.is_modern and problem.type in _REFUSED_INPUT:
        message = f"{_REFUSED_INPUT[problem.type]}: {problem.detail}"
        return RpcError(_CODES[problem.type], message, msgspec.to_builtins(problem))
    if revision.is_modern and problem.requires is not UNSET:
        return missing_capability(problem.requires)
    return None


def error_of_job(problem: Mapping[str, Any]) -> RpcError | None:
    """The error of a call that has ended as a job with `problem`. None: its tool has answered."""
    code = _OF_JOBS.get(problem["code"])
    message = problem.get("detail") or problem["title"]
    return None if code is None else RpcError(code, message, problem)


def missing_capability(required: Iterable[Requirement]) -> RpcError:
    """The error for a client that does not declare what is `required`."""
    capabilities: dict[str, Any] = {}
    for each in required:
        capabilities |= CAPABILITY_OF[each]
    message = f"Missing required client capability: {', '.join(required)}"
    return RpcError(CAPABILITY_MISSING, message, {"requiredCapabilities": capabilities})
