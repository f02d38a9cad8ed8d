"""The fast path and the SDK's path answer the same request with the same content."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from sse_starlette.sse import AppStatus

from gateway.transports.mcp import paths

MODERN = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
ENVELOPE = {VERSION: MODERN, CAPABILITIES: {}, CLIENT_INFO: {"name": "t", "version": "1"}}
BOTH = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def modern(params: dict[str, Any], method: str = "tools/call", **headers: str) -> dict[str, Any]:
    """A 2026-07-28 request as keyword arguments of `post`."""
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {"_meta": ENVELOPE, **params},
    }
    routing = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if "name" in params:
        routing["mcp-name"] = str(params["name"])
    routing.update({name.replace("_", "-"): value for name, value in headers.items()})
    return {"headers": {**BOTH, **routing}, "json": body}


def handshake(
    params: dict[str, Any] | None, method: str = "tools/call", version: str | None = "2025-11-25"
) -> dict[str, Any]:
    """A handshake-era request as keyword arguments of `post`."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": "seven", "method": method}
    if params is not None:
        body["params"] = params
    routing = {"mcp-protocol-version": version} if version else {}
    return {"headers": {**BOTH, **routing}, "json": body}


ADA = {"name": "example_greet", "arguments": {"name": "Ada \u2603", "note": None}}

FAST: dict[str, dict[str, Any]] = {
    "call": modern(ADA),
    "call by an alias": modern({**ADA, "name": "say_hello"}),
    "call without client info": modern({**ADA, "_meta": {VERSION: MODERN, CAPABILITIES: {}}}),
    "call with a progress token": modern({**ADA, "_meta": {**ENVELOPE, "progressToken": "p"}}),
    "call with an encoded name": modern(ADA, mcp_name="=?base64?ZXhhbXBsZV9ncmVldA==?="),
    "call with bad arguments": modern({"name": "example_greet", "arguments": {"x": 1}}),
    "call without arguments": modern({"name": "example_greet"}),
    "call that the contract lets fail": modern({**ADA, "name": "example_refuse"}),
    "call that breaks its contract": modern({**ADA, "name": "example_misbehave"}),
    "call that crashes": modern({**ADA, "name": "example_crash"}),
    "call of an unknown tool": modern({**ADA, "name": "nothing"}),
    "call by the operation id": modern({**ADA, "name": "example.greet"}),
    "list": modern({}, "tools/list"),
    "handshake call": handshake(ADA),
    "handshake call of 2025-06-18": handshake(ADA, version="2025-06-18"),
    "handshake call of 2025-03-26": handshake(ADA, version="2025-03-26"),
    "handshake call of 2024-11-05": handshake(ADA, version="2024-11-05"),
    "call without a version header": handshake(ADA, version=None),
    "call of an unknown tool without a version header": handshake(
        {**ADA, "name": "nothing"}, version=None
    ),
    "failing call without a version header": handshake(
        {**ADA, "name": "example_refuse", "_meta": {"progressToken": 1}}, version=None
    ),
    "handshake call with _meta": handshake({**ADA, "_meta": {"progressToken": 1}}),
    "handshake call with bad arguments": handshake({"name": "example_greet", "arguments": {}}),
    "handshake call that fails": handshake({**ADA, "name": "example_refuse"}),
    "handshake call of an unknown tool": handshake({**ADA, "name": "nothing"}),
    "handshake list": handshake(None, "tools/list"),
    "handshake list with params": handshake({}, "tools/list", "2025-06-18"),
    "handshake list of 2024-11-05": handshake(None, "tools/list", "2024-11-05"),
    "list without a version header": handshake({}, "tools/list", None),
}

SLOW: dict[str, tuple[dict[str, Any], int, int | None]] = {
    "an empty version header": (modern(ADA, mcp_protocol_version=""), 400, -32020),
    "a handshake call with a log level": (
        handshake({**ADA, "_meta": {LOG_LEVEL: "info"}}, version=None),
        200,
        None,
    ),
    "an unknown revision": (modern(ADA, mcp_protocol_version="2027-01-01"), 400, -32020),
    "no _meta": (modern({**ADA, "_meta": None}), 400, -32602),
    "no capabilities": (modern({**ADA, "_meta": {VERSION: MODERN}}), 400, -32602),
    "capabilities of the wrong shape": (
        modern({**ADA, "_meta": {**ENVELOPE, CAPABILITIES: {"roots": 1}}}),
        400,
        -32602,
    ),
    "client info of the wrong shape": (
        modern({**ADA, "_meta": {**ENVELOPE, CLIENT_INFO: {}}}),
        400,
        -32602,
    ),
    "another method in the header": (modern(ADA, mcp_method="tools/list"), 400, -32020),
    "another name in the header": (modern(ADA, mcp_name="example_refuse"), 400, -32020),
    "arguments that are null": (modern({**ADA, "arguments": None}), 400, -32602),
    "a tool without a name": (modern({"arguments": {}}), 400, -32602),
    "a cursor": (modern({"cursor": "2"}, "tools/list"), 400, -32602),
    "a method that is not served": (modern({}, "prompts/list"), 404, -32601),
    "a method that nobody knows": (modern({}, "tools/fly"), 404, -32601),
    "another letter case": (modern(ADA, "Tools/Call"), 404, -32601),
    "discovery": (modern({}, "server/discover"), 200, None),
    "a handshake cursor": (handshake({"cursor": "2"}, "tools/list"), 200, -32602),
    "a handshake ping": (handshake(None, "ping"), 200, None),
}


def content(answer: httpx.Response) -> Any:
    """The JSON-RPC message of a plain or an event-stream answer."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        (line,) = [line for line in answer.text.splitlines() if line.startswith("data: {")]
        return json.loads(line.removeprefix("data: "))
    return answer.json()


async def ask(site: Any, request: dict[str, Any], path: str = "/mcp") -> tuple[int, Any]:
    """The status and message that answer `request`, the request id fixed."""
    request["headers"]["x-request-id"] = "the-same"
    async with site.http() as http:
        answer = await http.post(path, **request)
    return answer.status_code, content(answer)


def known_at(path: str, request: dict[str, Any]) -> dict[str, Any]:
    """`request` with the tool's name as the endpoint at `path` knows it."""
    if path == "/mcp":
        return request
    text = json.dumps(request).replace("ZXhhbXBsZV9ncmVldA==", "Z3JlZXQ=")
    bare: dict[str, Any] = json.loads(text.replace("example_", ""))
    return bare


@pytest.fixture
def recognised(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the fast path took each request, in order."""
    taken: list[bool] = []
    recognise = paths.recognise

    def noting(routing: Any, body: bytes) -> Any:
        request = recognise(routing, body)
        taken.append(request is not None)
        return request

    monkeypatch.setattr(paths, "recognise", noting)
    return taken


@pytest.mark.parametrize("path", ["/mcp", "/mcp/example"])
@pytest.mark.parametrize("name", FAST)
async def test_the_fast_path_answers_what_the_sdk_answers(
    site: Any, name: str, path: str, recognised: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    request = known_at(path, FAST[name])
    fast = await ask(site, request, path)
    assert recognised == [True]
    monkeypatch.setattr(paths, "recognise", lambda headers, body: None)
    assert fast == await ask(site, request, path)


@pytest.mark.parametrize("name", SLOW)
async def test_what_is_not_recognised_is_the_sdks_to_judge(
    site: Any, name: str, recognised: list[bool]
) -> None:
    request, status, code = SLOW[name]
    answered, message = await ask(site, request)
    assert recognised == [False]
    assert answered == status
    assert message.get("error", {}).get("code") == code
    assert message["jsonrpc"] == "2.0"


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", None])
@pytest.mark.parametrize(
    "body",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": True, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": None, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": {"hunter2": 1}, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": {"hunter2": 1}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": ["hunter2"]},
        {"jsonrpc": "2.0", "id": 1, "result": {"hunter2": 1}},
        7,
        "hunter2",
        None,
    ],
)
async def test_what_is_no_single_message_is_refused_alike_in_every_era_and_not_repeated(
    site: Any, body: Any, version: str | None
) -> None:
    headers = {**BOTH, "mcp-method": "tools/list"}
    if version:
        headers["mcp-protocol-version"] = version
    async with site.http() as http:
        answer = await http.post("/mcp", content=json.dumps(body), headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32600)
    assert error["data"]["code"] == "VALIDATION_ERROR"
    assert "hunter2" not in answer.text


@pytest.mark.parametrize(("version", "status"), [(MODERN, 400), ("2025-11-25", 200), (None, 200)])
@pytest.mark.parametrize("arguments", ['{"name": "Ada"}', ["Ada"], 7])
async def test_arguments_that_are_no_object_are_named(
    site: Any, arguments: Any, version: str | None, status: int
) -> None:
    params = {"name": "example_greet", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {**BOTH, "mcp-method": "tools/call", "mcp-name": "example_greet"}
    if version:
        headers["mcp-protocol-version"] = version
    async with site.http() as http:
        answer = await http.post("/mcp", content=json.dumps(body), headers=headers)
    message = answer.json()
    assert (answer.status_code, message["id"], message["error"]["code"]) == (status, 1, -32602)
    assert "params.arguments must be an object" in message["error"]["data"]["detail"]


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", None])
async def test_a_notification_is_accepted(site: Any, version: str | None) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    headers = {**BOTH, **({"mcp-protocol-version": version} if version else {})}
    async with site.http() as http:
        answer = await http.post("/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize(
    "extra",
    [("mcp-name", "example_greet"), ("mcp-param-name", "Ada"), ("mcp-method", "tools/call")],
)
async def test_repeated_routing_headers_and_parameter_headers_fall_through(
    site: Any, extra: tuple[str, str], recognised: list[bool]
) -> None:
    request = modern(ADA)
    headers = [*request["headers"].items(), extra]
    async with site.http() as http:
        answer = await http.post("/mcp", json=request["json"], headers=headers)
    assert recognised == [False]
    assert answer.status_code == (200 if extra[0] == "mcp-param-name" else 400)


@pytest.fixture
def stopped_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if another server of this process had been asked to stop."""
    monkeypatch.setattr(AppStatus, "enable_automatic_graceful_drain", True)
    monkeypatch.setattr(AppStatus, "should_exit", True)


async def test_a_transport_built_after_another_server_was_stopped_still_streams(
    stopped_before: None, site: Any
) -> None:
    request, *_ = SLOW["a handshake call with a log level"]
    _, message = await ask(site, request)
    assert message["result"]["isError"] is False


async def test_no_stream_leaves_something_that_looks_for_ever(site: Any) -> None:
    request, *_ = SLOW["a handshake call with a log level"]
    _, message = await ask(site, request)
    assert message["result"]["isError"] is False
    assert not [each for each in asyncio.all_tasks() if "watcher" in repr(each.get_coro())]


@pytest.mark.parametrize("name", ["=?base64?\xe9?=", "=?base64?!?=", "\xe9", "\xc3\xa9"])
async def test_a_malformed_name_is_the_clients_mistake(site: Any, name: str) -> None:
    request = modern(ADA)
    headers = [*request["headers"].items(), ("mcp-name", name)]
    raw = [(key.encode(), value.encode("latin-1")) for key, value in dict(headers).items()]
    async with site.http() as http:
        answer = await http.post("/mcp", json=request["json"], headers=raw)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


async def test_padded_routing_headers_mean_the_same(site: Any, recognised: list[bool]) -> None:
    status, message = await ask(site, modern(ADA, mcp_name="  example_greet \t"))
    assert recognised == [True]
    assert (status, message["result"]["isError"]) == (200, False)


async def test_every_path_leaves_exactly_one_audit_record_for_each_call(site: Any) -> None:
    calls = [FAST["call"], FAST["call of an unknown tool"], FAST["call by the operation id"]]
    logged = {**ADA, "_meta": {LOG_LEVEL: "info"}}
    calls += [handshake(logged), handshake({**logged, "name": "nothing"})]
    for request in [*calls, FAST["list"], FAST["handshake list"]]:
        await ask(site, request)
    records = await site.records()
    assert [(r.operation, r.status, r.transport) for r in records] == [
        ("example.greet", 200, "mcp"),
        ("mcp:nothing", 404, "mcp"),
        ("mcp:example.greet", 404, "mcp"),
        ("example.greet", 200, "mcp"),
        ("mcp:nothing", 404, "mcp"),
    ]
