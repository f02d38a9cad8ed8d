"""What is a call, and so leaves exactly one audit record: the same over both transports."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.auth.principal import KeyNotChecked
from tests.interaction.conftest import TwoKeys

GREET = "/v1/example/greet"
JSON = {"content-type": "application/json"}
BOTH = {"accept": "application/json, text/event-stream", **JSON}
ADMINISTRATOR = "key-of-administrator"
MODERN = "2026-07-28"


async def pieces(size: int) -> AsyncIterator[bytes]:
    """A body whose length nobody declares."""
    for _ in range(size // 1000):
        yield b" " * 1000


def reported(records: list[Any]) -> list[tuple[Any, ...]]:
    return [(r.operation, r.outcome, r.status, r.subject) for r in records]


@pytest.mark.parametrize(
    ("headers", "body", "status", "outcome"),
    [
        ({**JSON, "accept": "text/html"}, b"{}", 406, "NOT_ACCEPTABLE"),
        ({"content-type": "text/plain"}, b"{}", 415, "UNSUPPORTED_MEDIA_TYPE"),
        ({}, b"", 415, "UNSUPPORTED_MEDIA_TYPE"),
        (JSON, pieces(5000), 413, "PAYLOAD_TOO_LARGE"),
        (JSON, b"{", 400, "VALIDATION_ERROR"),
    ],
)
async def test_a_call_that_cannot_be_read_leaves_one_record_of_its_caller(
    site: Any, headers: dict[str, str], body: Any, status: int, outcome: str
) -> None:
    async with site.http() as http:
        answer = await http.post(GREET, content=body, headers=headers)
    assert answer.status_code == answer.json()["status"] == status
    (record,) = await site.records()
    assert reported([record]) == [("example.greet", outcome, status, ADMINISTRATOR)]
    assert record.request_id == answer.json()["request_id"]


@pytest.mark.parametrize(
    "authorization",
    ["Basic Zm9v", "Bearer ", "Bearer wrong-key", "Bearer a b", "Bearer " + "x" * 600],
)
@pytest.mark.parametrize(
    ("path", "operation"),
    [
        (GREET, "example.greet"),
        ("/v1/nothing", "/v1/nothing"),
        ("/mcp", "mcp"),
        ("/mcp/example", "mcp/example"),
    ],
)
async def test_who_shows_no_valid_key_leaves_one_record(
    site: Any, path: str, operation: str, authorization: str
) -> None:
    async with site.http(key=None) as http:
        # A client without a key does not learn what else is wrong with the request.
        answer = await http.post(path, content=b"{", headers={"authorization": authorization})
    assert answer.status_code == 401
    # Another scheme is no key at all, so the challenge has no error (RFC 6750 §3.1).
    code = ', error="invalid_token"' if authorization.startswith("Bearer") else ""
    assert answer.headers["www-authenticate"] == f'Bearer realm="gateway"{code}'
    assert reported(await site.records()) == [(operation, "AUTHENTICATION_ERROR", 401, None)]


@pytest.mark.parametrize("path", [GREET, "/mcp", "/mcp/example"])
async def test_who_shows_no_key_at_all_leaves_one_record(site: Any, path: str) -> None:
    async with site.http(key=None) as http:
        answer = await http.post(path, json={})
    assert answer.headers["www-authenticate"] == 'Bearer realm="gateway"'
    (record,) = await site.records()
    assert (record.outcome, record.status) == ("AUTHENTICATION_ERROR", 401)
    assert record.transport == ("rest" if path == GREET else "mcp")


@pytest.mark.parametrize("path", ["/openapi.json", "/asyncapi.json"])
async def test_a_key_that_is_tried_at_a_document_leaves_one_record(site: Any, path: str) -> None:
    async with site.http("wrong-key-0123456789") as http:
        assert (await http.get(path)).status_code == 401
    async with site.http() as http:
        assert (await http.get(path)).status_code == 200
    async with site.http(key=None) as http:
        assert (await http.get(path)).status_code == 200
    assert reported(await site.records()) == [(path[1:], "AUTHENTICATION_ERROR", 401, None)]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/info", "/openapi.json", GREET])
async def test_a_key_that_cannot_be_checked_leaves_one_record(
    site: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise KeyNotChecked

    monkeypatch.setattr(TwoKeys, "identify", fail)
    async with site.http(**BOTH) as http:
        answer = await http.request("POST" if path == GREET else "GET", path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    (record,) = await site.records()
    assert (record.outcome, record.status, record.subject) == ("KEY_NOT_CHECKED", 503, None)


@pytest.mark.parametrize("path", [GREET, "/mcp"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_method_that_calls_nothing_leaves_no_record(
    site: Any, path: str, method: str
) -> None:
    async with site.http(**BOTH) as http:
        answer = await http.request(method, path)
    assert answer.status_code == 405
    assert await site.records() == []


def message(method: str, **params: Any) -> bytes:
    """A JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", None])
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        message("tools/list"),
        message("tools/call", arguments={}),
        message("tools/call", name="example_greet", arguments=[]),
        message("tools/call", name="example_greet", arguments=None),
    ],
)
async def test_an_error_of_the_protocol_is_no_call(
    site: Any, body: bytes, version: str | None
) -> None:
    headers = {**BOTH, "mcp-method": "tools/call", "mcp-name": "example_greet"}
    if version:
        headers["mcp-protocol-version"] = version
    async with site.http(**headers) as http:
        await http.post("/mcp", content=body)
        await http.post("/mcp", content=body, headers={"content-type": "text/plain"})
        await http.post("/mcp", content=body, headers={"accept": "text/html"})
    assert await site.records() == []
