"""What an error means where its body says more than its status."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.calls.replies import ReplyReader
from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.refusals import MAX_ERROR_BYTES, refusal_of
from gateway.contract.upstream import (
    RateHeaders,
    RefusalRule,
    Reply,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import (
    GatewayError,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.unit.tables import each_of

REASON = "/error/errors/0/reason"
RULES = (
    RefusalRule(status="403", pointer=REASON, values=("slow", "slower"), means="rate_limited"),
    RefusalRule(status="403", pointer=REASON, values=("spent",), means="quota_used_up"),
    RefusalRule(status="429", pointer="/code", values=("38195",), means="quota_used_up"),
    RefusalRule(status="5XX", pointer="/code", values=("57014",), means="rejected"),
    RefusalRule(status="4XX", pointer="/code", values=("40001",), means="unavailable"),
    RefusalRule(status="400", pointer="/code", values=("key",), means="credentials"),
    RefusalRule(status="403", pointer="/code", values=("old",), means="token_expired"),
    RefusalRule(status="403", pointer="/code", values=("old",), means="rejected"),
)
MAIL = Upstream(
    name="mail",
    title="Mail",
    base_url=None,
    refusals=RULES,
    rate=RateHeaders(remaining="X-Remaining", reset_seconds="X-Reset"),
    operations=(UpstreamOperation(id="read", method="GET", path="/m", replies={"200": {}}),),
)


def reply(status: int, body: Any, **headers: str) -> Reply:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers={"content-type": "application/json", **names}, body=text)


def reason(text: str) -> Any:
    return {"error": {"code": 403, "errors": [{"domain": "usageLimits", "reason": text}]}}


def meant(answer: Reply) -> GatewayError:
    return ReplyReader(MAIL).failure(answer)


@each_of(
    ("answer", "error", "is_retryable"),
    [
        (reply(403, reason("slow")), UpstreamRateLimited, True),
        (reply(403, reason("slower")), UpstreamRateLimited, True),
        (reply(403, reason("spent")), UpstreamRateLimited, False),
        (reply(403, reason("forbidden")), UpstreamNotSetUp, False),
        (reply(403, {"error": {"errors": []}}), UpstreamNotSetUp, False),
        (reply(403, b"<html>"), UpstreamNotSetUp, False),
        (reply(429, {"code": 38195}), UpstreamRateLimited, False),
        (reply(429, {"code": "38195"}), UpstreamRateLimited, False),
        (reply(429, {"code": "38194"}), UpstreamRateLimited, True),
        (reply(500, {"code": "57014"}), UpstreamRejected, False),
        (reply(500, {"code": "x"}), UpstreamUnavailable, True),
        (reply(409, {"code": "40001"}), UpstreamUnavailable, True),
        (reply(400, {"code": "key"}), UpstreamRefusedCredentials, False),
        (reply(403, {"code": "old"}), UpstreamRefusedCredentials, False),
        (reply(400, {"code": ["key"]}), UpstreamRejected, False),
        (reply(400, {"code": True}), UpstreamRejected, False),
    ],
)
def test_a_rule_decides_before_the_status(
    answer: Reply, error: type[GatewayError], is_retryable: bool
) -> None:
    found = meant(answer)
    assert type(found) is error
    assert found.is_retryable is is_retryable


def test_a_rate_limit_says_when_to_come_back_and_a_spent_quota_does_not() -> None:
    limited = meant(reply(403, reason("slow"), retry_after="7"))
    spent = meant(reply(403, reason("spent"), retry_after="7"))
    assert isinstance(limited, UpstreamRateLimited)
    assert isinstance(spent, UpstreamRateLimited)
    assert (limited.retry_after_seconds, spent.retry_after_seconds) == (7, None)


def test_the_meaning_and_not_the_status_says_whether_to_try_again() -> None:
    reader = ReplyReader(MAIL)
    assert reader.transient(reply(403, reason("slow")), (429, 503)) is not None
    assert reader.transient(reply(403, reason("forbidden")), (403, 429)) is None
    assert reader.transient(reply(429, {"code": "38195"}), (429,)) is None
    assert reader.transient(reply(429, {"code": "38194"}), (429,)) is not None
    assert reader.transient(reply(500, {"code": "57014"}), (500,)) is None
    assert reader.transient(reply(500, {"code": "x"}), (503,)) is None


def binding(**parts: Any) -> HttpBinding:
    return HttpBinding(
        upstream="mail",
        upstream_operation="read",
        request=lambda arguments, call: UpstreamRequest(operation="", method="", path=()),
        results={"200": lambda arguments, call, facts: {}},
        errors={"403": ErrorRule(reason="no_access")},
        **parts,
    )


def test_a_declared_error_wins_over_a_status_and_not_over_a_rule() -> None:
    facts = CallFacts(id="1", now="2026-11-20T12:00:00.000Z")
    reader = ReplyReader(MAIL)
    with pytest.raises(ToolFailed) as failed:
        reader.read(binding(), reply(403, reason("forbidden")), {}, facts, 1, [])
    assert failed.value.reason == "no_access"
    with pytest.raises(UpstreamRateLimited):
        reader.read(binding(), reply(403, reason("slow")), {}, facts, 1, [])


def test_a_handler_that_expects_a_status_does_not_get_what_a_rule_explains() -> None:
    reader = ReplyReader(MAIL)
    with pytest.raises(UpstreamRateLimited):
        reader.admit("read", reply(403, reason("slow")), {403})
    with pytest.raises(UpstreamNotSetUp):
        reader.admit("read", reply(403, reason("forbidden")), {404})


def test_a_body_beyond_all_bounds_is_not_read() -> None:
    body = b'{"code": "key", "pad": "' + b"x" * MAX_ERROR_BYTES + b'"}'
    assert isinstance(meant(reply(400, body)), UpstreamRejected)


@given(st.integers(100, 599), st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
def test_whatever_the_body_is_its_meaning_never_raises(status: int, body: bytes) -> None:
    assert not refusal_of(MAIL, reply(status, body)).is_ruled


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["error", "code"]), inner),
        max_leaves=8,
    )
)
def test_whatever_json_the_body_is_only_a_listed_value_has_a_meaning(value: Any) -> None:
    found = refusal_of(MAIL, reply(400, value))
    code = value.get("code") if isinstance(value, dict) else None
    is_listed = str(code) in {"40001", "key"} and not isinstance(code, list | dict | float)
    assert found.is_ruled is is_listed
