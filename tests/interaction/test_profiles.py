"""Each client gets the tools in its own profile: by its name, on every path of the protocol."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.auth.principal import Credentials
from gateway.profiles.clients import PROFILES
from gateway.transports.mcp import paths
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.server import build_server, profile_of_client
from tests.bridged import pipes
from tests.interaction.conftest import GREET_INPUT
from tests.interaction.test_revisions import (
    BOTH,
    CAPABILITIES,
    INFO,
    VERSION,
    conversation,
    streams_of,
)

MODERN = "2026-07-28"
HANDSHAKE = "2025-06-18"
GEMINI = {"name": "gemini-cli-mcp-client", "version": "1"}
NAMES = [
    ("gemini-cli-mcp-client", "gemini"),
    ("codex-mcp-client", "openai"),
    ("a client that nobody knows", "default"),
    ("\x1b[31m" + "x" * 1_500, "default"),
]


@pytest.fixture(params=["fast", "sdk"])
def path(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path that serves the requests."""
    if request.param == "sdk":
        monkeypatch.setattr(paths, "recognise", lambda headers, body: None)
    return str(request.param)


async def post(site: Any, body: dict[str, Any], key: str | None = None, **headers: str) -> Any:
    async with site.http(*([key] if key else [])) as http:
        answer = await http.post("/mcp", headers=BOTH | headers, json=body)
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        (line,) = [line for line in text.splitlines() if line.startswith("data: {")]
        text = line.removeprefix("data: ")
    return answer, json.loads(text)


async def session(site: Any, name: str) -> str:
    """The session that a client with this name gets."""
    params = {
        "protocolVersion": HANDSHAKE,
        "capabilities": {},
        "clientInfo": {"name": name, "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    answer, _ = await post(site, body)
    return str(answer.headers["mcp-session-id"])


async def listed(site: Any, name: str, *, is_modern: bool, key: str | None = None) -> Any:
    """The tools that a client with this name is shown, by name."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    if is_modern:
        info = {"name": name, "version": "1"}
        body["params"] = {"_meta": {VERSION: MODERN, CAPABILITIES: {}, INFO: info}}
        headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    else:
        headers = {
            "mcp-protocol-version": HANDSHAKE,
            "mcp-session-id": await session(site, name),
        }
    _, message = await post(site, body, key, **headers)
    return {tool["name"]: tool for tool in message["result"]["tools"]}


def is_for_gemini(tool: dict[str, Any]) -> bool:
    schema = tool["inputSchema"]
    return "additionalProperties" not in schema and "anyOf" in schema["properties"]["note"]


@pytest.mark.parametrize("is_modern", [True, False])
@pytest.mark.parametrize(("name", "profile"), NAMES, ids=[profile for _, profile in NAMES])
async def test_over_http_a_client_is_known_by_its_name(
    site: Any, path: str, name: str, profile: str, *, is_modern: bool
) -> None:
    tool = (await listed(site, name, is_modern=is_modern))["example_greet"]
    assert is_for_gemini(tool) is (profile == "gemini")
    if profile != "gemini":
        assert tool["inputSchema"]["properties"] == GREET_INPUT["properties"]


async def test_a_request_without_a_name_gets_the_default(site: Any, path: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for session_id in (None, "a" * 32, "x.nothing", "gemini", "."):
        headers = {"mcp-protocol-version": HANDSHAKE}
        headers |= {"mcp-session-id": session_id} if session_id else {}
        _, message = await post(site, body, **headers)
        assert not any(is_for_gemini(tool) for tool in message["result"]["tools"])


async def test_the_policy_decides_before_the_name_of_the_client(
    site: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = site.tools._views._agents["administrator"]
    views = type(site.tools._views)({"administrator": replace(said, profile="gemini")})
    monkeypatch.setattr(type(site.tools), "view", lambda _, who, profile=None: views.of(who.agent))
    tools = await listed(site, "claude-code", is_modern=True)
    assert all(is_for_gemini(tool) for tool in tools.values())


@pytest.mark.parametrize("info", [None, [], {"name": 7}, {"version": "1"}, "gemini"])
async def test_an_initialize_without_a_usable_name_is_answered_as_before(
    site: Any, info: Any
) -> None:
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": info}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    answer, message = await post(site, body)
    assert answer.status_code in {200, 400}
    assert "error" in message
    assert "." not in answer.headers.get("mcp-session-id", "")


async def test_over_stdio_and_through_the_bridge(
    site: Any, socket_site: str, admin_key: str
) -> None:
    principal = await site.pipeline.identification.identify(Credentials(bearer=admin_key))

    async def caller_of(ctx: Any) -> Caller:
        return Caller(
            principal=principal,
            credentials=Credentials(bearer=admin_key),
            transport="stdio",
            request_id="r",
            view=site.tools.view(principal, profile_of_client(ctx)),
        )

    for version in (HANDSHAKE, MODERN):
        for connection in (
            streams_of(build_server(site.tools, caller_of, "1")),
            pipes(f"{socket_site}/mcp", admin_key),
        ):
            async with conversation(connection, version, GEMINI) as ask:
                found = await ask("tools/list", {})
            assert all(is_for_gemini(tool) for tool in found["tools"])


@pytest.mark.parametrize("is_modern", [True, False])
async def test_a_tool_with_a_long_name_is_called_by_its_short_one(
    site: Any, path: str, monkeypatch: pytest.MonkeyPatch, *, is_modern: bool
) -> None:
    short = replace(PROFILES["cursor"], max_name=16 + 12)
    monkeypatch.setitem(PROFILES, "cursor", short)  # type: ignore[arg-type]  # it is a dict
    names = set(await listed(site, "cursor-vscode", is_modern=is_modern))
    assert all(len(name) <= 12 for name in names)
    assert len(names) == 6
    (name,) = [name for name in names if name.startswith("examp") and call_is(site, name)]
    async with site.mcp(mode=MODERN if is_modern else "legacy") as client:
        result = await client.call_tool(name, {"name": "Ada"})
    assert result.structured_content["greeting"] == "Hello Ada"
    *_, record = await site.records()
    assert record.operation == "example.greet"


def call_is(site: Any, name: str) -> bool:
    found = site.tools.entry(name)
    return found is not None and found.id == "example.greet"


async def test_what_was_described_loosely_is_validated_by_the_contract(site: Any) -> None:
    """Gemini is not shown that there are no other arguments, and gets the honest error."""
    tool = (await listed(site, GEMINI["name"], is_modern=True))["example_greet"]
    assert "additionalProperties" not in tool["inputSchema"]
    async with site.mcp() as client:
        result = await client.call_tool("example_greet", {"name": "Ada", "nickname": "A"})
    assert result.is_error
    assert "/nickname" in result.content[0].text
