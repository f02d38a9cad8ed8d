"""Turns an upstream's reply into a result or into an error."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from gateway.calls.waiting import retry_after_seconds
from gateway.contract.context import CallFacts, UpstreamReply
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.refusals import (
    MAX_ERROR_BYTES,
    UpstreamAnswer,
    matching_rule,
    upstream_answer,
    with_code,
)
from gateway.contract.upstream import Reply, ReplyFacts, Upstream, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.media_types import shown_type
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.errors import (
    GatewayError,
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)

_T = TypeVar("_T")


class ReplyReader:
    """Reads the replies of one upstream against its contract."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._validators = {
            (operation.id, status): None if schema is None else Validator(schema)
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
    ) -> dict[str, Any]:
        """The result that the binding makes of `reply`.

        Raises `InvalidReply` when the reply breaks the upstream's contract, `ToolFailed` for an
        error that the tool's contract declares, and another `UpstreamError` for any other failure.
        """
        mapped = _by_status(binding.results, reply.status)
        if mapped is None or self._by_refusal(reply) is not None:
            return self._refused(binding, reply, arguments, call, elapsed_ms)
        validator = self._validator_of(binding.upstream_operation, reply.status)
        try:
            body = None if validator is None else self._body(reply, validator)
        except UpstreamRejected as error:
            error.answer = upstream_answer(reply, validator)
            rule = _by_code(binding.errors, self._vendor_codes(reply))
            if rule is None:
                raise
            return _ruled(rule, arguments, call, _facts(reply, None, elapsed_ms), error.answer)
        facts = _facts(reply, body, elapsed_ms)
        return _mapped(mapped, arguments, call, facts)

    def admit(self, operation: str, reply: Reply, expect: Collection[int]) -> UpstreamReply:
        """`reply` as a handler gets it, if it is a success or its status is in `expect`.

        The body of an expected failure is read only if the contract describes it. If that body
        breaks the contract, the error is the one for its status. Otherwise it raises like `read`.
        """
        is_success = 200 <= reply.status < 300
        known = None if is_success else self._by_refusal(reply)
        if known is not None or not (is_success or reply.status in expect):
            raise self._said(operation, reply)
        validator = self._validator_of(operation, reply.status)
        try:
            body = None if validator is None else self._body(reply, validator)
        except InvalidReply as error:
            if is_success:
                raise
            raise self._said(operation, reply) from error
        return UpstreamReply(status=reply.status, headers=reply.headers, body=body)

    def transient(self, reply: Reply, statuses: Collection[int]) -> GatewayError | None:
        """The failure that `reply` reports, if the next attempt may succeed.

        A refusal rule that matches decides this, whatever the status is. Without one, only the
        `statuses` may pass.
        """
        known = self._by_refusal(reply)
        if known is not None:
            return known if known.is_retryable else None
        failure = self.failure(reply)
        return failure if failure.is_retryable and reply.status in statuses else None

    def _validator_of(self, operation: str, status: int) -> Validator | None:
        """The validator for this status. None means: by contract, the reply has no JSON body."""
        for name in status_names(status):
            if (operation, name) in self._validators:
                return self._validators[operation, name]
        raise InvalidReply(f"The upstream's contract does not know the status {status}.")

    def _body(self, reply: Reply, validator: Validator) -> Any:
        body = _json(reply)
        self._refuse_soft_errors(body)
        if not validator.admits(body):
            raise InvalidReply(violations=validator.violations(body))
        return body

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
        rule = _by_code(binding.errors, self._vendor_codes(reply))
        rule = rule or _by_status(binding.errors, reply.status)
        if rule is None or self._by_refusal(reply) is not None:
            raise self._said(binding.upstream_operation, reply)
        answer = self._answer(binding.upstream_operation, reply)
        return _ruled(rule, arguments, call, _facts(reply, None, elapsed_ms), answer)

    def failure(self, reply: Reply) -> GatewayError:
        """The error for `reply`, for a status that the binding does not map."""
        return self._by_refusal(reply) or self._by_status(reply)

    def _said(self, operation: str, reply: Reply) -> GatewayError:
        """The error for `reply`, with what the upstream says in it."""
        error = self.failure(reply)
        error.answer = self._answer(operation, reply)
        return error

    def _answer(self, operation: str, reply: Reply) -> UpstreamAnswer:
        names = status_names(reply.status)
        declared = (self._validators.get((operation, name)) for name in names)
        return upstream_answer(reply, next(filter(None, declared), None))

    def _by_refusal(self, reply: Reply) -> GatewayError | None:
        """The error of the first refusal rule that matches `reply`, or None."""
        rule = matching_rule(self._upstream.refusals, reply)
        if rule is None:
            return None
        match rule.means:
            case "rate_limited":
                return UpstreamRateLimited(retry_after_seconds=self._retry_after(reply))
            case "quota_used_up":
                used_up = UpstreamRateLimited("The quota at the upstream is used up.")
                used_up.is_retryable = False
                return used_up
            case "unavailable":
                return UpstreamUnavailable(f"The upstream answered {reply.status}.")
            case "credentials" | "token_expired":
                return self._refused_credentials(reply)
            case "rejected":
                return self._rejected(reply)

    def _by_status(self, reply: Reply) -> GatewayError:
        status = reply.status
        if status < 300:
            return InvalidReply(f"The upstream's contract does not know the status {status}.")
        if status in {401, 403}:
            return self._refused_credentials(reply)
        if status in {408, 504}:
            return UpstreamTimeout()
        if status == 429:
            return UpstreamRateLimited(retry_after_seconds=self._retry_after(reply))
        if status >= 500:
            return UpstreamUnavailable(f"The upstream answered {status}.")
        return self._rejected(reply)

    def _refused_credentials(self, reply: Reply) -> UpstreamRefusedCredentials:
        """The error names the upstream: the operator must know where to renew the credentials."""
        title = self._upstream.title
        return UpstreamRefusedCredentials(
            f"{title} answered {reply.status}: it refused this gateway's credentials."
        )

    def _rejected(self, reply: Reply) -> UpstreamRejected:
        what = f"The upstream answered {reply.status}"
        return UpstreamRejected(with_code(what, next(iter(self._vendor_codes(reply)), None)))

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
