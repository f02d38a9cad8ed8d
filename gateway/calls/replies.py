"""Turns an upstream's reply into a result or into an error."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from gateway.backends.base import operators_error
from gateway.calls.waiting import retry_after_seconds
from gateway.contract.context import CallFacts, UpstreamReply
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.operation import NOT_FOUND, ErrorRule, HttpBinding
from gateway.contract.refusals import (
    MAX_ERROR_BYTES,
    UpstreamAnswer,
    UpstreamRefusal,
    refusal_of,
    upstream_answer,
    with_code,
)
from gateway.contract.upstream import Reply, ReplyFacts, Upstream, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.files import shown_type
from gateway.contract.values.violation import Violation
from gateway.encoding.replies.content import ReplySchema
from gateway.errors import (
    GatewayError,
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)

_T = TypeVar("_T")
_MOST_LOGGED: Final = 5
_log: Final = logging.getLogger(__name__)


class ReplyReader:
    """Reads the replies of one upstream against its contract."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._validators = {
            (operation.id, status): None if schema is None else ReplySchema(schema, operation.rows)
            for operation in upstream.operations
            for status, schema in operation.replies.items()
        }

    def read(
        self,
        binding: HttpBinding,
        reply: Reply,
        arguments: Mapping[str, Any],
        call: CallFacts,
        elapsed_ms: int,
        left_out: list[str],
    ) -> dict[str, Any]:
        """The result that the binding makes of `reply`. Rows that it lacks are added to `left_out`.

        Raises `InvalidReply` when the reply breaks the upstream's contract, `ToolFailed` for an
        error that the tool's contract declares, and another `UpstreamError` for any other failure.
        """
        mapped = _by_status(binding.results, reply.status)
        if mapped is None or (reply.status >= 400 and refusal_of(self._upstream, reply).is_ruled):
            return self._refused(binding, reply, arguments, call, elapsed_ms)
        validator = self._validator_of(binding.upstream_operation, reply.status)
        try:
            body, lacking = (None, ()) if validator is None else self._body(reply, validator)
        except UpstreamRejected as error:
            error.answer = upstream_answer(reply, validator)
            rule = _by_code(binding.errors, self._vendor_codes(reply))
            if rule is None:
                raise
            return _ruled(rule, arguments, call, _facts(reply, None, elapsed_ms), error.answer)
        left_out += lacking
        facts = _facts(reply, body, elapsed_ms)
        return _mapped(mapped, arguments, call, facts)

    def admit(self, operation: str, reply: Reply, expect: Collection[int]) -> UpstreamReply:
        """`reply` as a handler gets it, if it is a success or its status is in `expect`.

        The body of an expected failure is read only if the contract describes it. If that body
        breaks the contract, the error is the one for its status. Otherwise it raises like `read`.
        """
        is_success = 200 <= reply.status < 300
        refusal = None if reply.status < 400 else refusal_of(self._upstream, reply)
        is_expected = reply.status in expect and (
            refusal is None or refusal.is_by_status or refusal.means == NOT_FOUND
        )
        if not (is_success or is_expected):
            raise self._said(operation, reply)
        validator = self._validator_of(operation, reply.status)
        try:
            body, lacking = (None, ()) if validator is None else self._body(reply, validator)
        except InvalidReply as error:
            if is_success:
                raise
            raise self._said(operation, reply) from error
        failure = None if is_success else self._said(operation, reply)
        return UpstreamReply(
            status=reply.status,
            headers=reply.headers,
            body=body,
            failure=failure,
            left_out=lacking,
            is_not_found=refusal is not None and refusal.means == NOT_FOUND,
        )

    def transient(self, reply: Reply, statuses: Collection[int]) -> GatewayError | None:
        """The failure that `reply` reports, if the next attempt may succeed.

        A refusal rule that matches decides this, whatever the status is. Without one, only the
        `statuses` may pass.
        """
        refusal = refusal_of(self._upstream, reply)
        if not (refusal.is_ruled or reply.status in statuses):
            return None
        failure = self._error(reply, refusal)
        return failure if failure.is_retryable else None

    def _validator_of(self, operation: str, status: int) -> ReplySchema | None:
        """The schema for this status. None means: by contract, the reply has no JSON body."""
        for name in status_names(status):
            if (operation, name) in self._validators:
                return self._validators[operation, name]
        raise InvalidReply(f"The upstream's contract does not know the status {status}.")

    def _body(self, reply: Reply, schema: ReplySchema) -> tuple[Any, tuple[str, ...]]:
        """The JSON value, and what was left out of it."""
        body = _json(reply)
        self._refuse_soft_errors(body)
        if schema.admits(body):
            return body, ()
        body, left_out = schema.lenient(body)
        if not schema.admits(body):
            raise InvalidReply(violations=schema.violations(body))
        for each in left_out[:_MOST_LOGGED]:
            _log.warning("%s: left out of a reply: %s", self._upstream.name, each)
        return body, left_out

    def _refuse_soft_errors(self, body: Any) -> None:
        """Raise `UpstreamRejected` if a reply with a 2xx status reports errors in its body."""
        if self._upstream.soft_errors is None:
            return
        errors = _at(body, self._upstream.soft_errors)
        if isinstance(errors, list) and errors:
            raise UpstreamRejected(with_code("The upstream reported an error", _code(errors[0])))

    def _refused(
        self,
        binding: HttpBinding,
        reply: Reply,
        arguments: Mapping[str, Any],
        call: CallFacts,
        elapsed_ms: int,
    ) -> dict[str, Any]:
        refusal = refusal_of(self._upstream, reply) if reply.status >= 400 else None
        rule = _by_code(binding.errors, self._vendor_codes(reply))
        if refusal is not None and refusal.is_ruled:
            rule = binding.errors.get(NOT_FOUND) if refusal.means == NOT_FOUND else None
        elif refusal is None or refusal.is_by_status:
            rule = rule or _by_status(binding.errors, reply.status)
        if rule is None:
            raise self._said(binding.upstream_operation, reply)
        answer = self._answer(binding.upstream_operation, reply)
        return _ruled(rule, arguments, call, _facts(reply, None, elapsed_ms), answer)

    def failure(self, reply: Reply) -> GatewayError:
        """The error for `reply`, for a status that the binding does not map."""
        if 300 <= reply.status < 400:
            return self._rejected(reply, UpstreamRefusal(means="rejected"))
        if reply.status < 300:
            return InvalidReply(f"The upstream's contract does not know the status {reply.status}.")
        return self._error(reply, refusal_of(self._upstream, reply))

    def has_surely_not_happened(self, reply: Reply) -> bool:
        """Whether the contract says of the refusal in `reply` that a write has changed nothing."""
        return not refusal_of(self._upstream, reply).has_happened

    def is_own(self, reply: Reply) -> bool:
        """Whether the upstream's API answers like this, and nothing in its place."""
        return reply.status < 400 or refusal_of(self._upstream, reply).means != "foreign"

    def _said(self, operation: str, reply: Reply) -> GatewayError:
        """The error for `reply`, with what the upstream says in it."""
        error = self.failure(reply)
        error.answer = self._answer(operation, reply)
        is_known = reply.status >= 400 and refusal_of(self._upstream, reply).is_operators
        error.is_answer_logged = is_known
        return error

    def _answer(self, operation: str, reply: Reply) -> UpstreamAnswer:
        names = status_names(reply.status)
        declared = (self._validators.get((operation, name)) for name in names)
        return upstream_answer(reply, next(filter(None, declared), None))

    def _error(self, reply: Reply, refusal: UpstreamRefusal) -> GatewayError:
        match refusal.means:
            case "rate_limited":
                return UpstreamRateLimited(retry_after_seconds=self._retry_after(reply))
            case "quota_used_up":
                used_up = UpstreamRateLimited("The quota at the upstream is used up.")
                used_up.is_retryable = False
                return used_up
            case "unavailable":
                what = with_code(f"The upstream answered {reply.status}", refusal.code)
                return UpstreamUnavailable(what, is_sent=refusal.has_happened)
            case "timeout":
                return UpstreamTimeout()
            case "rejected" | "not_found":
                return self._rejected(reply, refusal)
            case _:
                return operators_error(self._upstream, reply.status, refusal)

    def _rejected(self, reply: Reply, refusal: UpstreamRefusal) -> UpstreamRejected:
        code = next(iter(self._vendor_codes(reply)), None) or refusal.code
        return UpstreamRejected(with_code(f"The upstream answered {reply.status}", code))

    def _retry_after(self, reply: Reply) -> float | None:
        reset = self._upstream.rate.reset_seconds.lower() if self._upstream.rate else ""
        return retry_after_seconds(reply.headers.get("retry-after") or reply.headers.get(reset))

    def _vendor_codes(self, reply: Reply) -> Sequence[Any]:
        """The upstream's own error codes. Empty if the contract does not say where they are."""
        if self._upstream.soft_errors is None or len(reply.body) > MAX_ERROR_BYTES:
            return ()
        try:
            errors = _at(_json(reply), self._upstream.soft_errors)
        except InvalidReply:
            return ()
        return [_code(error) for error in errors] if isinstance(errors, list) else ()


def _ruled(
    rule: ErrorRule,
    arguments: Mapping[str, Any],
    call: CallFacts,
    facts: ReplyFacts,
    answer: UpstreamAnswer | None,
) -> dict[str, Any]:
    if rule.result is not None:
        return _mapped(rule.result, arguments, call, facts)
    raise _failed(rule.reason or "", answer)


def _failed(reason: str, answer: UpstreamAnswer | None) -> ToolFailed:
    error = ToolFailed(reason)
    error.answer = answer
    return error


def _mapped(
    mapped: Callable[[Mapping[str, Any], CallFacts, ReplyFacts], dict[str, Any]],
    arguments: Mapping[str, Any],
    call: CallFacts,
    facts: ReplyFacts,
) -> dict[str, Any]:
    try:
        return mapped(arguments, call, facts)
    except Unmappable as error:
        violation = Violation(pointer=error.pointer, keyword="binding", detail=error.detail)
        raise InvalidReply(violations=[violation]) from error


def _json(reply: Reply) -> Any:
    content_type = reply.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        shown = shown_type(content_type)
        raise InvalidReply(f"The upstream's answer is not JSON: it has {shown}.")
    try:
        return jsontext.decode(reply.body, jsontext.REPLY)
    except jsontext.NotJson as error:
        raise InvalidReply(f"The upstream's answer is not valid JSON: {error}.") from error


def _facts(reply: Reply, body: Any, elapsed_ms: int) -> ReplyFacts:
    return ReplyFacts(status=reply.status, headers=reply.headers, body=body, elapsed_ms=elapsed_ms)


def _by_code(rules: Mapping[str, ErrorRule], codes: Sequence[Any]) -> ErrorRule | None:
    """The rule for the first code that has one. Codes that start with a digit are ignored."""
    texts = (code for code in codes if isinstance(code, str) and not code[:1].isdigit())
    return next((rules[code] for code in texts if code in rules), None)


def _by_status(table: Mapping[str, _T], status: int) -> _T | None:
    return next(filter(None, map(table.get, status_names(status))), None)


def _at(body: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def _code(error: Any) -> Any:
    return error.get("code") if isinstance(error, dict) else None
