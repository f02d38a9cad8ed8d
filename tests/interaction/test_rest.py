"""One call over REST, from bytes to bytes."""

import json
from typing import Any

import pytest

from gateway.catalogue import Entry
from gateway.contract.values import jsontext
from tests.interaction.conftest import MAX_BODY, build_running

GREET = "/v1/example/greet"
JSON = {"content-type": "application/json"}


async def test_a_call_answers_the_result_and_says_which_backend_made_it(site: Any) -> None:
    async with site.http() as http:
        answer = await http.post(GREET, json={"name": "Ada", "times": 2})
    assert answer.status_code == 200
    assert answer.json() == {"greeting": "Hello, Hello Ada", "note": None, "weight": 1.0}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["gateway-backend"] == "python"


async def test_every_call_leaves_one_audit_record_that_carries_its_request_id(site: Any) -> None:
    async with site.http() as http:
        answer = await http.post(GREET, json={"name": "Ada"}, headers={"x-request-id": "trace.1"})
        await http.post(GREET, json={"name": ""})
        await http.post("/v1/example/nothing", json={})
    async with site.http(key=None) as http:
        await http.post(GREET, json={"name": "Ada"})
    assert answer.headers["x-request-id"] == "trace.1"
    records = await site.records()
    assert [(r.operation, r.outcome, r.status) for r in records] == [
        ("example.greet", "ok", 200),
        ("example.greet", "VALIDATION_ERROR", 422),
        ("/v1/example/nothing", "TOOL_NOT_FOUND", 404),
        ("example.greet", "AUTHENTICATION_ERROR", 401),
    ]
    assert records[0].request_id == "trace.1"


@pytest.mark.parametrize(
    ("path", "body", "status", "kind", "pointers"),
    [
        (GREET, {}, 422, "VALIDATION_ERROR invalid-arguments", ["/name"]),
        (GREET, {"name": 7}, 422, "VALIDATION_ERROR invalid-arguments", ["/name"]),
        (GREET, {"name": "a", "x": 1}, 422, "VALIDATION_ERROR invalid-arguments", ["/x"]),
        (
            GREET,
            {"name": "a", "code": "k"},
            422,
            "VALIDATION_ERROR invalid-arguments",
            ["/code"],
        ),
        (GREET, ["name"], 422, "VALIDATION_ERROR invalid-arguments", [""]),
        ("/v1/example/refuse", {"name": "a"}, 409, "TOOL_EXECUTION_ERROR tool-failed", None),
        (
            "/v1/example/misbehave",
            {"name": "a"},
            502,
            "TOOL_EXECUTION_ERROR invalid-result",
            ["/greeting"],
        ),
        ("/v1/example/crash", {"name": "a"}, 500, "INTERNAL_ERROR internal-error", None),
        ("/v1/example/nothing", {}, 404, "TOOL_NOT_FOUND tool-not-found", None),
        ("/v1/nothing", {}, 404, "TOOL_NOT_FOUND tool-not-found", None),
        ("/nothing", {}, 404, "PATH_NOT_FOUND path-not-found", None),
    ],
)
async def test_what_cannot_be_done_is_answered_as_its_documented_problem(
    site: Any, path: str, body: Any, status: int, kind: str, pointers: list[str] | None
) -> None:
    code, slug = kind.split()
    async with site.http() as http:
        answer = await http.post(path, json=body)
        problem = answer.json()
        explained = await http.get(problem["type"])
    assert answer.status_code == problem["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["code"] == code
    assert problem["type"] == f"/problems/{slug}"
    assert problem["request_id"] == answer.headers["x-request-id"]
    found = (
        [violation["pointer"] for violation in problem["errors"]] if "errors" in problem else None
    )
    assert found == pointers
    assert explained.status_code == 200
    assert code in explained.text


async def test_a_declared_error_names_its_reason_and_says_its_contracts_words(site: Any) -> None:
    async with site.http() as http:
        problem = (await http.post("/v1/example/refuse", json={"name": "a"})).json()
    assert problem["reason"] == "nobody_home"
    assert problem["detail"] == "Nobody is at home."


async def test_a_defect_shows_the_operator_everything_and_the_caller_nothing(
    site: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with site.http() as http:
        answer = await http.post("/v1/example/crash", json={"name": "Ada"})
    assert "secret" not in answer.text
    assert "ZeroDivision" not in answer.text
    assert answer.json()["request_id"] in caplog.text
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b'{"name": NaN}', "invalid"),
        (b'{"name": "a", "name": "b"}', "twice"),
        (b'{"name": "\xff"}', "UTF-8"),
        (b'{"name": "\\ud800"}', ""),
        (b'{"name": "a"} {}', "trailing"),
        (b'{"name": 1e400}', ""),
        (b"[" * 100 + b"]" * 100, "deeper"),
        (b"[" * 2000 + b"]" * 2000, "deeper"),
        (b'\xef\xbb\xbf{"name": "a"}', ""),
    ],
)
async def test_a_body_that_is_not_strict_json_is_malformed(
    site: Any, body: bytes, word: str
) -> None:
    async with site.http(**JSON) as http:
        answer = await http.post(GREET, content=body)
    assert answer.status_code == 400
    assert answer.json()["type"] == "/problems/malformed-request"
    assert word in answer.json()["detail"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json; charset=latin-1"}, 415),
        ({"content-type": "application/json, text/plain"}, 415),
        ({"content-type": "application/json; charset=UTF-8"}, 200),
        ({**JSON, "content-encoding": "gzip"}, 415),
        ({**JSON, "accept": "text/html"}, 406),
        ({**JSON, "accept": "application/json;q=0"}, 406),
        ({**JSON, "accept": "text/html, application/*;q=0.5"}, 200),
        ({**JSON, "authorization": "Basic Zm9v"}, 401),
        ({**JSON, "authorization": "Bearer "}, 401),
        ({**JSON, "authorization": "Bearer wrong-key"}, 401),
        ({**JSON, "authorization": "Bearer " + "x" * 5000}, 401),
        ({**JSON, "host": "evil.example"}, 421),
        ({**JSON, "host": "gateway.test:8700"}, 200),
        ({**JSON, "host": "gateway.test:8700/x"}, 421),
        ({**JSON, "origin": "https://evil.example"}, 403),
        ({**JSON, "origin": "null"}, 403),
        ({**JSON, "origin": "https://ui.example.com"}, 200),
        ({**JSON, "origin": "http://gateway.test"}, 200),
    ],
)
async def test_headers_decide_as_documented(
    site: Any, headers: dict[str, str], status: int
) -> None:
    async with site.http() as http:
        answer = await http.post(GREET, content=b'{"name": "Ada"}', headers=headers)
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["status"] == status


async def test_the_challenge_names_an_error_only_to_who_sent_a_key(site: Any) -> None:
    async with site.http(key=None) as http:
        without = await http.post(GREET, json={"name": "a"})
        wrong = await http.post(GREET, json={}, headers={"authorization": "Bearer wrong"})
    assert without.headers["www-authenticate"] == 'Bearer realm="gateway"'
    assert wrong.headers["www-authenticate"] == 'Bearer realm="gateway", error="invalid_token"'


async def test_without_a_key_an_unknown_tool_looks_like_a_known_one(site: Any) -> None:
    async with site.http(key=None) as http:
        known = await http.post(GREET, json={})
        unknown = await http.post("/v1/example/nothing", json={})
    assert known.status_code == unknown.status_code == 401
    assert {**known.json(), "request_id": ""} == {**unknown.json(), "request_id": ""}


async def test_a_tool_without_a_grant_looks_like_one_that_does_not_exist(
    site: Any, greeter_key: str
) -> None:
    async with site.http(greeter_key) as http:
        hidden = await http.post("/v1/other/greet", json={"name": "a"})
        unknown = await http.post("/v1/other/nothing", json={"name": "a"})
        allowed = await http.post(GREET, json={"name": "a"})
    assert {**hidden.json(), "request_id": ""} == {**unknown.json(), "request_id": ""}
    assert allowed.status_code == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
async def test_only_post_calls_a_tool(site: Any, method: str) -> None:
    async with site.http() as http:
        answer = await http.request(method, GREET)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, OPTIONS"


@pytest.mark.parametrize("path", [GREET, "/v1/nothing"])
async def test_options_reports_the_methods_of_all_tools(site: Any, path: str) -> None:
    async with site.http(key=None) as http:
        answer = await http.options(path)
    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, POST, OPTIONS"


async def test_more_calls_than_allowed_are_informed_when_to_come_again(site: Any) -> None:
    site.pipeline.admission.places.taken = 3
    async with site.http() as http:
        answer = await http.post(GREET, json={"name": "Ada"})
    assert answer.status_code == 429
    assert answer.json()["retryable"] is True
    assert answer.headers["retry-after"] == str(answer.json()["retry_after"])


async def test_every_answer_carries_the_safety_headers(site: Any) -> None:
    async with site.http() as http:
        answers = [
            await http.post(GREET, json={"name": "Ada"}),
            await http.post(GREET, content=b"{"),
            await http.get("/docs"),
            await http.get("/nothing"),
            await http.get("/healthz", headers={"host": "evil.example"}),
        ]
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert len(answer.headers["x-request-id"]) == 32
        assert "server" not in answer.headers


async def test_a_request_id_that_is_not_sane_is_replaced(site: Any) -> None:
    async with site.http() as http:
        for given in ("a" * 65, "a b", "a\tb", "<script>"):
            answer = await http.get("/healthz", headers={"x-request-id": given})
            assert answer.headers["x-request-id"] != given
            assert answer.status_code == 200


async def test_the_result_is_the_encoded_values_byte_for_byte(site: Any) -> None:
    async with site.http() as http:
        answer = await http.post(GREET, content=b'{"name":"\xc3\x84da \\u0000"}', headers=JSON)
    assert answer.content == jsontext.encode(json.loads(answer.content))


@pytest.mark.parametrize(
    ("longest", "most", "setting"),
    [(0, MAX_BODY, "the setting max_body_bytes"), (10**30, 5000, "the setting max_upload_bytes")],
)
@pytest.mark.parametrize("path", [GREET, "/mcp", "/tools/execute"])
async def test_a_body_that_is_too_large_names_the_limit_and_its_setting(
    monkeypatch: pytest.MonkeyPatch, longest: int, most: int, setting: str, path: str
) -> None:
    monkeypatch.setattr(Entry, "longest_text", property(lambda _: longest))
    site = build_running(max_upload_bytes=5000)
    async with site.http() as http:
        served = await http.post(path, content=b"[]".ljust(most), headers=JSON)
        refused = await http.post(path, content=b"[]".ljust(most + 1), headers=JSON)
    assert served.status_code != 413
    assert refused.status_code == 413
    assert f"larger than {most} bytes, the limit of" in refused.text
    assert f"{setting}." in refused.text
