"""MCP callers who pretend to be others."""

import json
from base64 import b64encode
from typing import Any

import pytest

MODERN = "2026-07-28"
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": MODERN,
    "mcp-method": "tools/call",
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message(name: str, **more: Any) -> dict[str, Any]:
    """A `tools/call` message of the newest revision."""
    params = {"name": name, "arguments": {"name": "Ada"}, "_meta": ENVELOPE, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def encoded(name: str) -> str:
    """`name` as a header value in the base64 form of the protocol."""
    return f"=?base64?{b64encode(name.encode()).decode()}?="


@pytest.mark.parametrize("name", ["other_greet", encoded("other_greet")])
@pytest.mark.attack(
    "a key calls a tool that its agent is not granted, named in clear or encoded in `Mcp-Name`",
    required="the answer is that of a tool that does not exist (-32602), nothing runs, and the "
    "audit holds the refusal",
)
async def test_a_tool_without_a_grant_by_either_form_of_its_name(
    site: Any, greeter_key: str, name: str
) -> None:
    async with site.http(greeter_key) as http:
        answer = await http.post(
            "/mcp", headers={**HEADERS, "mcp-name": name}, json=message("other_greet")
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32602
    (record,) = await site.records()
    assert record.outcome == "TOOL_NOT_FOUND"


@pytest.mark.parametrize("name", ["example_greet", encoded("example_greet")])
@pytest.mark.attack(
    "`Mcp-Name` names a granted tool while the body calls another one",
    required="the call is refused for its contradiction, and nothing runs",
)
async def test_a_header_that_names_another_tool_than_the_body(
    site: Any, greeter_key: str, name: str
) -> None:
    async with site.http(greeter_key) as http:
        answer = await http.post(
            "/mcp", headers={**HEADERS, "mcp-name": name}, json=message("other_greet")
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32020
    assert await site.records() == []


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", "2025-03-26"])
@pytest.mark.attack(
    "a caller names the session of somebody else in `Mcp-Session-Id`",
    required="a session id never gives or changes an identity: the key alone decides, and without "
    "one the answer is 401",
)
async def test_a_session_id_is_no_identity(site: Any, greeter_key: str, version: str) -> None:
    headers = {**HEADERS, "mcp-protocol-version": version, "mcp-name": "example_greet"}
    session = {"mcp-session-id": "key-of-administrator"}
    async with site.http(None) as unauthenticated:
        refused = await unauthenticated.post(
            "/mcp", headers=headers | session, json=message("example_greet")
        )
    async with site.http(greeter_key) as http:
        served = await http.post("/mcp", headers=headers | session, json=message("example_greet"))
        hidden = await http.post(
            "/mcp",
            headers={**headers, "mcp-name": "other_greet"} | session,
            json=message("other_greet"),
        )
    assert refused.status_code == 401
    (text,) = json.loads(served.text)["result"]["content"]
    assert json.loads(text["text"])["greeting"] == "Hello Ada"
    assert json.loads(hidden.text)["error"]["code"] == -32602
    agents = [(record.agent, record.outcome) for record in await site.records()]
    assert agents == [
        (None, "AUTHENTICATION_ERROR"),
        ("greeter", "ok"),
        ("greeter", "TOOL_NOT_FOUND"),
    ]
