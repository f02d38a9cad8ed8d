"""MCP over HTTP as its clients meet it: both eras, one policy, the same verdicts as REST."""

import asyncio
import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

JSON = {"content-type": "application/json"}
BOTH = {"accept": "application/json, text/event-stream", **JSON}
MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
ERAS = pytest.mark.parametrize("mode", [MODERN, "auto", "legacy"])


@ERAS
async def test_a_client_lists_exactly_the_tools_that_its_key_may_call(
    site: Any, mode: str, greeter_key: str
) -> None:
    async with site.mcp(mode=mode) as client:
        everything = await client.list_tools()
    async with site.mcp(greeter_key, mode=mode) as client:
        granted = await client.list_tools()
    names = [tool.name for tool in everything.tools]
    assert names == sorted(entry.tool.name for entry in site.catalogue.entries)
    assert [tool.name for tool in granted.tools] == ["example_greet"]


@ERAS
async def test_what_is_listed_is_what_the_contract_publishes(site: Any, mode: str) -> None:
    async with site.mcp(mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    for entry in site.catalogue.entries:
        tool = listed[entry.listing.name]
        assert tool.title == entry.listing.title
        assert tool.input_schema == entry.listing.input_schema
        assert tool.output_schema == entry.listing.output_schema
        assert tool.annotations is not None
        shown = tool.annotations.model_dump(by_alias=True, exclude_none=True)
        assert shown == entry.listing.annotations


@ERAS
async def test_a_call_gives_the_same_result_as_rest(site: Any, mode: str) -> None:
    arguments = {"name": "Ada \u2603", "note": None, "times": 3}
    async with site.http() as http:
        rest = await http.post("/v1/example/greet", json=arguments)
    async with site.mcp(mode=mode) as client:
        result = await client.call_tool("example_greet", arguments)
    assert result.structured_content == rest.json()
    assert result.content[0].text.encode() == rest.content
    assert result.is_error is False


@ERAS
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("greet", {}),
        ("greet", {"name": 7, "x": 1}),
        ("greet", {"name": "a", "code": "lower"}),
        ("greet", {"name": {"a": [1]}}),
        ("refuse", {"name": "a"}),
        ("misbehave", {"name": "a"}),
        ("crash", {"name": "a"}),
    ],
)
async def test_a_failed_call_reports_the_same_problem_as_rest(
    site: Any, mode: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with site.http() as http:
        problem = (await http.post(f"/v1/example/{tool}", json=arguments)).json()
    async with site.mcp(mode=mode) as client:
        result = await client.call_tool(f"example_{tool}", arguments)
    assert result.is_error is True
    assert result.structured_content is None
    reported = json.loads(result.content[0].text)
    assert reported == result.meta["contract-gateway/problem"]
    assert {**reported, "request_id": ""} == {**problem, "request_id": ""}


@ERAS
async def test_an_unknown_and_a_forbidden_tool_are_the_same_protocol_error(
    site: Any, mode: str, greeter_key: str
) -> None:
    async with site.mcp(greeter_key, mode=mode) as client:
        for name in ("nothing", "other_greet", "example.greet", "example_greet "):
            with pytest.raises(MCPError, match=f"Unknown tool: {name}") as caught:
                await client.call_tool(name, {"name": "a"})
            assert caught.value.code == -32602
            assert caught.value.data["code"] == "TOOL_NOT_FOUND"


@ERAS
async def test_a_connectors_endpoint_serves_its_tools_under_bare_names_and_aliases_alone(
    site: Any, mode: str
) -> None:
    async with site.mcp(path="/mcp/example", mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["crash", "greet", "misbehave", "refuse", "wait"]
        for name in ("greet", "say_hello"):
            assert (await client.call_tool(name, {"name": "Ada"})).is_error is False
        for name in ("example_greet", "other_greet"):
            with pytest.raises(MCPError, match=f"Unknown tool: {name}"):
                await client.call_tool(name, {"name": "Ada"})


async def test_the_server_declares_tools_and_their_documents(site: Any) -> None:
    async with site.mcp(mode="legacy") as client:
        capabilities = client.server_capabilities.model_dump(exclude_none=True)
        assert client.server_info.name == "contract-gateway"
        assert client.server_info.version == "1.2.3"
    assert set(capabilities) == {"tools", "resources", "completions"}


@pytest.mark.parametrize("path", ["/mcp", "/mcp/example"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_without_a_valid_key_nothing_of_mcp_answers(
    site: Any, path: str, method: str
) -> None:
    async with site.http(key=None, **BOTH) as http:
        without = await http.request(method, path, content=b"{" if method == "POST" else b"")
        wrong = await http.request(method, path, headers={"authorization": "Bearer wrong"})
    assert without.status_code == wrong.status_code == 401
    assert without.headers["www-authenticate"] == 'Bearer realm="gateway"'
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert without.json()["code"] == "AUTHENTICATION_ERROR"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_is_no_session_to_stream_or_to_delete(site: Any, method: str) -> None:
    async with site.http(**BOTH) as http:
        answer = await http.request(method, "/mcp")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


async def test_an_unknown_connector_has_no_endpoint(site: Any) -> None:
    async with site.http(**BOTH) as http:
        answer = await http.post("/mcp/nothing", json={})
    assert answer.status_code == 404
    assert answer.json()["code"] == "PATH_NOT_FOUND"


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", "2024-11-05", None])
@pytest.mark.parametrize(
    ("argument", "answered"),
    [
        (b"NaN", (None, -32700)),
        (b'"\xff"', (None, -32700)),
        (b"", (None, -32700)),
        (b"1e400", (1, -32600)),
        (b'"\\ud800"', (1, -32600)),
        (b'1, "name": 2', (1, -32600)),
        (b"[" * 100 + b"]" * 100, (1, -32600)),
        (b"[" * 1900 + b"]" * 1900, (1, -32600)),
    ],
)
async def test_a_body_that_is_not_strict_json_is_the_same_error_in_every_era(
    site: Any, argument: bytes, answered: tuple[int | None, int], version: str | None
) -> None:
    """What is JSON by the grammar is answered with its id: clients await the answer by it."""
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        b'{"name":"example_greet","arguments":{"name":' + argument + b"}}}"
    )
    headers = {**BOTH, "mcp-method": "tools/call", "mcp-name": "example_greet"}
    if version:
        headers["mcp-protocol-version"] = version
    async with site.http(**headers) as http:
        answer = await http.post("/mcp", content=body)
        rest = await http.post("/v1/example/greet", content=b'{"name":' + argument + b"}")
    assert answer.status_code == rest.status_code == 400
    message = answer.json()
    assert (message["id"], message["error"]["code"]) == answered
    assert message["error"]["data"]["code"] == rest.json()["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-encoding": "gzip"}, 415),
        ({"accept": "application/json"}, 200),
        ({"accept": "text/event-stream"}, 200),
        ({"accept": ""}, 406),
        ({"accept": "text/html"}, 406),
        ({"accept": "*/*;q=0, application/*;q=0"}, 406),
        ({"accept": "*/*"}, 200),
        ({"host": "evil.example"}, 421),
        ({"origin": "null"}, 403),
        ({"origin": "https://ui.example.com"}, 200),
        ({"origin": "http://gateway.test"}, 200),
        ({"host": "GATEWAY.test:80", "origin": "http://gateway.test:80"}, 200),
    ],
)
@pytest.mark.parametrize("version", [MODERN, "2025-11-25", "2024-11-05"])
async def test_headers_decide_on_mcp_as_on_rest(
    site: Any, headers: dict[str, str], status: int, version: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    routing = {"mcp-protocol-version": version, "mcp-method": "tools/list"}
    async with site.http(**{**BOTH, **routing, **headers}) as http:
        answer = await http.post("/mcp", json=body)
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["status"] == status


@pytest.mark.parametrize("meta", [{}, LOGGED], ids=["fast", "SDK"])
@pytest.mark.parametrize(
    ("version", "cancels"), [(MODERN, True), ("2025-11-25", False), ("2024-11-05", False)]
)
async def test_leaving_cancels_the_call_in_the_modern_era_only(
    site: Any, version: str, cancels: bool, meta: dict[str, Any]
) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "_meta": {**ENVELOPE, **meta},
            "name": "example_wait",
            "arguments": {"name": "a"},
        },
    }
    sent: list[Any] = []
    gone = asyncio.Event()
    messages = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    fields = {
        **BOTH,
        "host": "gateway.test",
        "authorization": "Bearer gw_administrator-0123456789",
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": "example_wait",
    }
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
    }
    serving = asyncio.create_task(site.app(scope, receive, send))
    await site.handlers.entered.wait()
    gone.set()
    if not cancels:
        for _ in range(50):  # the listener learns that the client has left
            await asyncio.sleep(0)
        site.handlers.release.set()
    await serving
    assert site.handlers.cancelled is cancels
    (record,) = await site.records()
    assert record.outcome == ("CANCELLED" if cancels else "ok")
    answer = b"".join(message.get("body", b"") for message in sent)
    assert (b"at last" in answer) is not cancels
    assert (sent == []) is cancels


async def test_many_clients_with_the_same_message_ids_get_their_own_answers(site: Any) -> None:
    site.pipeline.admission._max_calls = 100

    async def greet(number: int) -> str:
        async with site.mcp() as client:
            result = await client.call_tool("example_greet", {"name": str(number)})
        return result.structured_content["greeting"]

    answers = await asyncio.gather(*(greet(number) for number in range(50)))
    assert answers == [f"Hello {number}" for number in range(50)]
