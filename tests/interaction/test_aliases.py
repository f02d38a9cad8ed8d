"""The routes that other systems' clients know: the same pipeline, the same verdicts."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.profiles.clients import PROFILES
from gateway.settings import read_settings
from gateway.transports.execute import NUMBERS

ADA = {"name": "Ada"}
EXECUTE = "/tools/execute"


def plain(name: str, arguments: Any = ADA, **more: Any) -> dict[str, Any]:
    """A call as the base server's HTTP transport takes it."""
    return {"id": "request-1", "name": name, "arguments": arguments, **more}


def rpc(name: str, arguments: Any = ADA) -> dict[str, Any]:
    """The same as a JSON-RPC request."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": "request-1", "method": "tools/execute", "params": params}


@pytest.mark.parametrize("form", [plain, rpc])
@pytest.mark.parametrize("name", ["example_refuse", "example.refuse", "refuse"])
async def test_a_tool_answers_to_each_of_its_names(site: Any, form: Any, name: str) -> None:
    async with site.http() as http:
        answer = await http.post(EXECUTE, json=form(name))
    assert answer.status_code == 409
    assert answer.json()["error"]["data"]["reason"] == "nobody_home"


@pytest.mark.parametrize("form", [plain, rpc])
async def test_a_short_name_that_a_client_is_shown_is_a_name_here_too(
    site: Any, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tight = replace(PROFILES["cursor"], max_name=16 + 12)
    monkeypatch.setitem(PROFILES, "cursor", tight)  # type: ignore[arg-type]  # it is a dict
    tool = site.catalogue.find("example.greet").tool
    short = site.tools.names.name(tool, None, "cursor")
    assert len(short) == 12
    async with site.http() as http:
        answer = await http.post(EXECUTE, json=form(short))
        unknown = await http.post(EXECUTE, json=form(f"{short[:-1]}x"))
    assert answer.json()["result"]["greeting"] == "Hello Ada"
    assert unknown.status_code == 404
    called, _ = await site.records()
    assert (called.operation, called.outcome) == ("example.greet", "ok")


@pytest.mark.parametrize("form", [plain, rpc])
async def test_a_result_is_the_one_of_rest(site: Any, form: Any) -> None:
    async with site.http() as http:
        rest = await http.post("/v1/example/greet", json=ADA)
        answer = await http.post(EXECUTE, json=form("example_greet"))
    assert answer.status_code == 200
    assert answer.json() == {"jsonrpc": "2.0", "id": "request-1", "result": rest.json()}
    assert answer.headers["gateway-backend"] == "python"
    first, second = await site.records()
    assert (first.operation, first.outcome) == (second.operation, second.outcome)


CASES = [
    ("example_greet", {}, 422, "VALIDATION_ERROR", -32602),
    ("example_greet", [], 422, "VALIDATION_ERROR", -32602),
    ("nothing", ADA, 404, "TOOL_NOT_FOUND", -32001),
    ("example.nothing", ADA, 404, "TOOL_NOT_FOUND", -32001),
    ("greet", ADA, 404, "TOOL_NOT_FOUND", -32001),
    ("example_refuse", ADA, 409, "TOOL_EXECUTION_ERROR", -32002),
    ("example_crash", ADA, 500, "INTERNAL_ERROR", -32603),
]
"""Two connectors have a `greet`, so that this name is nobody's."""


@pytest.mark.parametrize(("name", "arguments", "status", "code", "number"), CASES)
async def test_errors_bear_the_sources_codes(
    site: Any, name: str, arguments: Any, status: int, code: str, number: int
) -> None:
    async with site.http() as http:
        as_text = await http.post(EXECUTE, json=plain(name, arguments))
        as_number = await http.post(EXECUTE, json=rpc(name, arguments))
    assert as_text.status_code == as_number.status_code == status
    assert as_text.json()["error"]["code"] == as_text.json()["error"]["data"]["code"] == code
    assert as_number.json()["error"]["code"] == number
    assert as_number.json()["id"] == "request-1"
    assert [record.outcome for record in await site.records()] == [code, code]


async def test_a_deadline_has_the_sources_code(site: Any) -> None:
    async with site.http(**{"gateway-timeout": "0.05"}) as http:
        answer = await http.post(EXECUTE, json=rpc("example_wait"))
    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == NUMBERS["TIMEOUT_ERROR"] == -32003


async def test_without_a_key_nothing_is_read_and_nothing_reported(
    site: Any, greeter_key: str
) -> None:
    async with site.http(key=None) as http:
        answer = await http.post(EXECUTE, content=b"{")
        info = await http.get("/mcp/info")
    assert answer.status_code == info.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="gateway"'
    assert answer.json()["id"] is None
    assert answer.json()["error"]["code"] == "AUTHENTICATION_ERROR"
    async with site.http(greeter_key) as http:
        hidden = await http.post(EXECUTE, json=rpc("other_greet"))
        unknown = await http.post(EXECUTE, json=rpc("other_nothing"))
    assert hidden.status_code == unknown.status_code == 404
    shown = [answer.json()["error"] for answer in (hidden, unknown)]
    for error in shown:
        del error["data"]["request_id"]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'"name"', 400),
        (b"{}", 400),
        (b'{"name": 1}', 400),
        (b'{"name": "example_greet", "name": "x"}', 400),
        (b'{"name": "example_greet", "extra": 1}', 400),
        (b'{"name": "example_greet", "arguments": NaN}', 400),
        (b'{"name": "example_greet", "id": {}}', 400),
        (
            b'{"jsonrpc": "1.0", "method": "tools/execute", "params": {"name": "example_greet"}}',
            400,
        ),
        (b'{"jsonrpc": "2.0", "method": "tools/list", "params": {"name": "example_greet"}}', 400),
        (b"[" * 100 + b"]" * 100, 400),
        (b'{"name": "example_greet"}', 422),
    ],
)
async def test_a_body_that_is_no_call_is_refused_and_recorded(
    site: Any, body: bytes, status: int
) -> None:
    async with site.http(**{"content-type": "application/json"}) as http:
        answer = await http.post(EXECUTE, content=body)
    assert answer.status_code == status
    assert answer.json()["error"]["data"]["status"] == status
    assert [record.outcome for record in await site.records()] == ["VALIDATION_ERROR"]


async def test_a_request_beyond_a_limit_is_answered_with_its_id(site: Any) -> None:
    call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":%b}}'
    json_body = {"content-type": "application/json"}
    async with site.http() as http:
        answers = [
            (await http.post(EXECUTE, content=call % arguments, headers=json_body)).json()
            for arguments in (b'"\\ud800"', b"[" * 100 + b"]" * 100, b"1e999")
        ]
    assert [(each["id"], each["error"]["code"]) for each in answers] == [(7, -32600)] * 3


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ({"jsonrpc": "2.0", "id": "seven", "method": "tools/list", "params": {}}, "seven"),
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": 1}}, 7),
        ({"jsonrpc": "1.0", "id": 7, "method": "tools/call", "params": {"name": "x"}}, 7),
        ({"jsonrpc": "2.0", "id": True, "method": "tools/call", "params": {"name": "x"}}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "tools/call", "params": {"name": "x"}}, None),
    ],
)
async def test_a_malformed_json_rpc_request_is_answered_as_one(
    site: Any, message: dict[str, Any], shown: Any
) -> None:
    async with site.http() as http:
        answer = await http.post(EXECUTE, json=message)
    assert answer.status_code == 400
    assert (answer.json()["id"], answer.json()["error"]["code"]) == (shown, -32600)
    assert [record.outcome for record in await site.records()] == ["VALIDATION_ERROR"]


async def test_a_malformed_plain_call_keeps_its_id(site: Any) -> None:
    async with site.http() as http:
        answer = await http.post(EXECUTE, json=plain("example_greet", extra=1))
    assert answer.json()["id"] == "request-1"
    assert answer.json()["error"]["code"] == "VALIDATION_ERROR"


async def test_other_methods_and_media_types_are_refused(site: Any) -> None:
    async with site.http() as http:
        assert (await http.get(EXECUTE)).status_code == 405
        text = await http.post(EXECUTE, content=b"{}", headers={"content-type": "text/plain"})
        assert text.status_code == 415
        assert (await http.post("/mcp/info", json={})).status_code == 405


async def test_the_setting_turns_them_off(tmp_path: Path) -> None:
    """Then each is a path that does not exist."""
    key = "key-of-an-administrator-0123456789"
    given = {"GATEWAY_ALIASES": "false", "GATEWAY_BOOTSTRAP_KEY": key}
    settings = read_settings(given, None, {"data": tmp_path})
    async with Gateway.open(settings) as gateway:
        transport = httpx.ASGITransport(app=gateway.http_app())  # type: ignore[arg-type]  # any ASGI callable
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            for path in (EXECUTE, "/health", "/mcp/info"):
                answer = await http.get(path, headers={"authorization": f"Bearer {key}"})
                assert (path, answer.status_code) == (path, 404)
                assert answer.json()["code"] == "PATH_NOT_FOUND"


async def test_health_and_info_say_that_it_is_there(site: Any) -> None:
    async with site.http() as http:
        health = await http.get("/health")
        info = await http.get("/mcp/info")
    assert health.json() == {"status": "healthy"}
    assert info.json() == {
        "name": "contract-gateway",
        "title": "Contract gateway",
        "version": "1.2.3",
        "protocolVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
        "transport": "streamable-http",
        "endpoint": "/mcp",
    }
