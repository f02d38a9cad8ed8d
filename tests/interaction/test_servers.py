"""Each MCP endpoint describes itself as its connector, to the callers that it serves."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from gateway.auth.principal import Credentials
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.protocol import MODERN_VERSIONS
from gateway.transports.mcp.server import build_server
from tests.interaction.conftest import ADMIN_KEY, GREETER_KEY
from tests.interaction.test_revisions import (
    BOTH,
    CAPABILITIES,
    TESTER,
    VERSION,
    exchange,
    streams_of,
)

INFO = "io.modelcontextprotocol/serverInfo"
CARD = "application/mcp-server-card+json"
NAME = {"name": "example", "version": "1.2.3"}
DETAILS = {
    "description": "Tools that greet.",
    "websiteUrl": "https://example.com/greetings",
    "icons": [
        {"src": "data:image/png;base64,iVBORw0KGgo=", "mimeType": "image/png", "sizes": ["1x1"]}
    ],
}
FULL = {
    "2024-11-05": NAME,
    "2025-03-26": NAME,
    "2025-06-18": NAME | {"title": "Examples"},
    "2025-11-25": NAME | {"title": "Examples"} | DETAILS,
    "2026-07-28": NAME | {"title": "Examples"} | DETAILS,
}
"""`Implementation` as each revision has it."""
EVERY = pytest.mark.parametrize("version", sorted(KNOWN_PROTOCOL_VERSIONS))


def hello(version: str) -> tuple[str, dict[str, Any]]:
    """The request with which a client of `version` gets to know a server."""
    if version in MODERN_VERSIONS:
        return "server/discover", {}
    greeting = {"protocolVersion": version, "capabilities": {}, "clientInfo": TESTER}
    return "initialize", greeting


def introduction(result: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    info = result["serverInfo"] if "serverInfo" in result else result["_meta"][INFO]
    return info, result.get("instructions")


async def asked(
    site: Any, key: str, path: str, version: str, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    headers = BOTH | {"mcp-protocol-version": version}
    if version in MODERN_VERSIONS:
        headers |= {"mcp-method": method}
        headers |= {"mcp-name": params["name"]} if "name" in params else {}
        params = {"_meta": {VERSION: version, CAPABILITIES: {}}, **params}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    async with site.http(key) as http:
        answer = await http.post(path, headers=headers, json=body)
    result: dict[str, Any] = json.loads(message_of(answer))["result"]
    return result


def message_of(answer: Any) -> str:
    """The message of an answer, which may be a stream of one event."""
    text: str = answer.text
    if not answer.headers["content-type"].startswith("text/event-stream"):
        return text
    (line,) = [line for line in text.splitlines() if line.startswith("data: {")]
    return line.removeprefix("data: ")


@EVERY
async def test_a_connector_is_introduced_over_http(site: Any, version: str) -> None:
    result = await asked(site, GREETER_KEY, "/mcp/example", version, *hello(version))
    assert introduction(result) == (FULL[version], "Greet politely.")


@EVERY
async def test_a_connector_is_introduced_over_stdio(site: Any, version: str) -> None:
    async with on_stdio(site, ADMIN_KEY, "example", version) as ask:
        result = (await ask(*hello(version)))["result"]
    info, instructions = introduction(result)
    assert info == {**FULL[version], "version": "1.2.3"}
    assert instructions == "Greet politely."


@EVERY
async def test_the_endpoint_of_all_connectors_is_the_gateway(site: Any, version: str) -> None:
    result = await asked(site, GREETER_KEY, "/mcp", version, *hello(version))
    info, instructions = introduction(result)
    assert info["name"] == "contract-gateway"
    assert info.get("description") == ("All of it." if version >= "2025-11-25" else None)
    assert instructions == "Ask."


@EVERY
async def test_a_connector_is_not_described_to_a_key_without_its_tools(
    site: Any, version: str
) -> None:
    result = await asked(site, GREETER_KEY, "/mcp/other", version, *hello(version))
    info, instructions = introduction(result)
    assert info["name"] == "other"
    assert set(info) <= {"name", "title", "version"}
    assert info.get("title", "other") == "other"
    assert instructions is None


@pytest.mark.usefixtures("mcp_path")
async def test_each_result_names_its_server_briefly_on_both_paths(site: Any) -> None:
    """Icons may be large. They are sent to a client that gets to know the server."""
    for path, name in (("/mcp/example", "example"), ("/mcp", "contract-gateway")):
        tool = "greet" if name == "example" else "example_greet"
        for method, params in (
            ("tools/list", {}),
            ("tools/call", {"name": tool, "arguments": {"name": "Ada"}}),
            ("tools/call", {"name": tool, "arguments": {}}),
        ):
            result = await asked(site, ADMIN_KEY, path, "2026-07-28", method, params)
            info = result["_meta"][INFO]
            assert (info["name"], set(info)) == (name, {"name", "title", "version"})


@asynccontextmanager
async def on_stdio(site: Any, key: str, connector: str, version: str) -> AsyncIterator[Any]:
    principal = await site.pipeline.identification.identify(Credentials(bearer=key))

    async def caller_of(_: Any) -> Caller:
        return Caller(
            principal=principal,
            credentials=Credentials(bearer=key),
            transport="stdio",
            request_id="r",
            connector=connector,
            view=site.tools.view(principal),
        )

    async with exchange(streams_of(build_server(site.tools, caller_of, "1.2.3")), version) as ask:
        yield ask


async def test_the_card_of_the_gateway_is_public(site: Any) -> None:
    async with site.http(None) as http:
        answer = await http.get("/mcp/server-card")
        again = await http.get(
            "/mcp/server-card", headers={"if-none-match": answer.headers["etag"]}
        )
    assert answer.status_code == 200
    assert answer.headers["content-type"] == CARD
    assert answer.json()["name"] == "com.example/contract-gateway"
    assert "greet" not in answer.text
    assert "remotes" not in answer.json()
    assert (again.status_code, again.content) == (304, b"")


async def test_an_invalid_key_is_refused_at_the_public_card_too(site: Any) -> None:
    async with site.http("no-such-key-0123456789") as http:
        answer = await http.get("/mcp/server-card")
    assert answer.status_code == 401
    (record,) = await site.records()
    assert record.outcome == "AUTHENTICATION_ERROR"


@pytest.mark.parametrize(
    ("key", "connector", "status"),
    [
        (None, "example", 401),
        (GREETER_KEY, "example", 200),
        (GREETER_KEY, "other", 404),
        (ADMIN_KEY, "other", 200),
        (ADMIN_KEY, "nothing", 404),
    ],
)
async def test_the_card_of_a_connector_is_for_keys_with_its_tools(
    site: Any, key: str | None, connector: str, status: int
) -> None:
    async with site.http(key) as http:
        answer = await http.get(f"/mcp/{connector}/server-card")
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["name"] == f"com.example/{connector}"
        assert answer.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND"])
@pytest.mark.parametrize("rest", ["", "/server-card"])
async def test_without_a_key_a_connector_cannot_be_distinguished_from_none(
    site: Any, method: str, rest: str
) -> None:
    answers = []
    async with site.http(None) as http:
        for connector in ("example", "nothing", "nothing/at/all"):
            answer = await http.request(method, f"/mcp/{connector}{rest}")
            body = answer.json() if answer.content else {}
            fields = {k: v for k, v in answer.headers.items() if k != "x-request-id"}
            answers.append((answer.status_code, fields, {**body, "request_id": None}))
    assert answers[0][0] == 401
    assert answers[0] == answers[1] == answers[2]


async def test_with_a_key_there_is_no_such_path(site: Any) -> None:
    async with site.http() as http:
        for path in ("/mcp/nothing", "/mcp/nothing/server-card", "/mcp/example/x"):
            answer = await http.post(path, content=b"{}", headers=BOTH)
            assert (answer.status_code, answer.json()["code"]) == (404, "PATH_NOT_FOUND")


async def test_cards_answer_head_like_documents(site: Any) -> None:
    async with site.http(GREETER_KEY) as http:
        for path in ("/mcp/server-card", "/mcp/example/server-card"):
            answer = await http.head(path)
            assert (answer.status_code, answer.content) == (200, b"")
            assert answer.headers["content-type"] == CARD
