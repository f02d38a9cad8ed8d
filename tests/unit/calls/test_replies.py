"""What the gateway makes of an upstream's reply."""

import json
from typing import Any

import pytest

from gateway.calls.replies import ReplyReader
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import (
    RateHeaders,
    Reply,
    ReplyFacts,
    Upstream,
    UpstreamOperation,
    UpstreamRequest,
)
from gateway.errors import (
    GatewayError,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.unit.tables import each_of

UPSTREAM = Upstream(
    name="zoo",
    title="Zoo",
    base_url=None,
    soft_errors="/meta/errors",
    rate=RateHeaders(remaining="X-Remaining", reset_seconds="X-Reset"),
    operations=(
        UpstreamOperation(
            id="readCage",
            method="GET",
            path="/cages/{id}",
            replies={
                "200": {
                    "type": "object",
                    "properties": {"animals": {"type": "array"}},
                    "required": ["animals"],
                },
                "204": None,
            },
        ),
    ),
)


def to_result(arguments: Any, call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {"count": len(reply.body["animals"]), "ms": reply.elapsed_ms, "cage": arguments["cage"]}


def no_animals(arguments: Any, call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {"count": 0}


def unmappable(arguments: Any, call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    raise Unmappable("/animals/0", "is no animal")


def binding(**changes: Any) -> HttpBinding:
    fields: dict[str, Any] = {
        "upstream": "zoo",
        "upstream_operation": "readCage",
        "request": lambda arguments, call: UpstreamRequest(operation="", method="", path=()),
        "results": {"2XX": to_result},
        "errors": {"404": ErrorRule(reason="no_such_cage"), "410": ErrorRule(result=no_animals)},
    }
    return HttpBinding(**{**fields, **changes})


def reply(status: int = 200, body: Any = None, **headers: str) -> Reply:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, headers={"content-type": "application/json", **names}, body=text)


def read(answer: Reply, bound: HttpBinding | None = None) -> dict[str, Any]:
    facts = CallFacts(id="call-1", now="2026-11-20T12:00:00.000Z")
    return ReplyReader(UPSTREAM).read(bound or binding(), answer, {"cage": 7}, facts, 12, [])


def test_a_reply_that_keeps_its_contract_is_mapped() -> None:
    assert read(reply(body={"animals": [1, 2]})) == {"count": 2, "ms": 12, "cage": 7}


def test_an_upstream_may_answer_more_than_a_caller_may_send() -> None:
    answer = reply(body={"animals": [{"name": "x"}] * 100_001})

    assert read(answer)["count"] == 100_001


def test_a_status_that_is_declared_without_a_body_is_mapped_without_one() -> None:
    assert read(reply(204, b""), binding(results={"204": no_animals})) == {"count": 0}


def test_a_declared_error_status_becomes_the_declared_error() -> None:
    with pytest.raises(ToolFailed) as failed:
        read(reply(404, {}))

    assert failed.value.reason == "no_such_cage"


@pytest.mark.parametrize("status", [200, 404, 422])
def test_a_code_of_the_upstream_goes_before_the_status(status: int) -> None:
    errors = {"CAGE_SHUT": ErrorRule(reason="shut"), "404": ErrorRule(reason="no_such_cage")}
    found = {"meta": {"errors": [{"code": 7}, {"code": "OTHER"}, {"code": "CAGE_SHUT"}]}}
    with pytest.raises(ToolFailed) as failed:
        read(reply(status, {"animals": [], **found}), binding(errors=errors))

    assert failed.value.reason == "shut"


def test_a_code_that_no_rule_names_leaves_it_to_the_status() -> None:
    errors = {"CAGE_SHUT": ErrorRule(reason="shut"), "404": ErrorRule(reason="no_such_cage")}
    found = {"meta": {"errors": [{"code": "404"}]}}
    with pytest.raises(ToolFailed) as failed:
        read(reply(404, found), binding(errors=errors))
    assert failed.value.reason == "no_such_cage"
    with pytest.raises(UpstreamRejected, match="404"):
        read(reply(200, {"animals": [], **found}), binding(errors=errors))


def test_a_status_may_stand_for_a_result() -> None:
    assert read(reply(410, b"not json")) == {"count": 0}


@each_of(
    ("answer", "error"),
    [
        (reply(401, {}), UpstreamRefusedCredentials),
        (reply(403, {}), UpstreamNotSetUp),
        (reply(408, {}), UpstreamTimeout),
        (reply(504, {}), UpstreamTimeout),
        (reply(500, b"oops"), UpstreamUnavailable),
        (reply(503, {}), UpstreamUnavailable),
        (reply(400, {}), UpstreamRejected),
        (reply(302, b""), UpstreamRejected),
        (reply(200, b'{"animals":'), InvalidReply),
        (reply(200, b'{"animals":[],"animals":[]}'), InvalidReply),
        (reply(200, {"animals": []}, content_type="text/html"), InvalidReply),
        (reply(200, {"animals": "none"}), InvalidReply),
        (reply(200, {}), InvalidReply),
        (reply(201, {"animals": []}), InvalidReply),
    ],
)
def test_everything_else_is_an_error_and_never_a_result(
    answer: Reply, error: type[GatewayError]
) -> None:
    with pytest.raises(error):
        read(answer)


def test_the_media_type_that_came_is_named() -> None:
    with pytest.raises(InvalidReply, match="not JSON: it has text/html"):
        read(reply(200, {"animals": []}, content_type="text/html; charset=utf-8"))


def test_an_error_under_a_success_status_is_no_success() -> None:
    soft = reply(200, {"animals": [], "meta": {"errors": [{"code": "CAGE_LOCKED", "title": "x"}]}})

    with pytest.raises(UpstreamRejected, match="CAGE_LOCKED"):
        read(soft)


def test_an_empty_list_of_soft_errors_is_a_success() -> None:
    assert read(reply(200, {"animals": [], "meta": {"errors": []}}))["count"] == 0


@pytest.mark.parametrize("code", ["secret token 123", "<script>", "x" * 65 + "!", 7, None])
def test_vendor_text_that_is_no_plain_code_is_not_repeated(code: object) -> None:
    with pytest.raises(UpstreamRejected) as rejected:
        read(reply(400, {"meta": {"errors": [{"code": code, "title": "token hunter2"}]}}))

    assert rejected.value.detail == "The upstream answered 400."


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"retry_after": "7"}, 7.0), ({"x_reset": "30"}, 30.0), ({}, None)]
)
def test_a_rate_limit_reports_how_long_to_wait(
    headers: dict[str, str], seconds: float | None
) -> None:
    with pytest.raises(UpstreamRateLimited) as limited:
        read(reply(429, {}, **headers))

    assert limited.value.retry_after_seconds == seconds


def test_a_value_that_cannot_be_mapped_points_at_itself() -> None:
    with pytest.raises(InvalidReply) as invalid:
        read(reply(body={"animals": [1]}), binding(results={"200": unmappable}))

    assert invalid.value.violations[0].pointer == "/animals/0"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "it refused this gateway's credentials"),
        (403, "it does not permit this to the gateway's account"),
    ],
)
def test_refusals_for_the_operator_name_the_upstream(status, said) -> None:
    failure = ReplyReader(UPSTREAM).failure(reply(status, {}))

    assert failure.detail == f"Zoo answered {status}: {said}."
