"""MCP over HTTP for clients that accept JSON alone, event streams alone, or say nothing."""

import json
from typing import Any

import httpx
import pytest

from tests.interaction.test_mcp import ENVELOPE, LOGGED, MODERN

VERSIONS = [MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
ACCEPTED = {
    "application/json": "application/json",
    "text/event-stream": "text/event-stream",
    "text/event-stream;q=0.5, application/json;q=0": "text/event-stream",
    "application/*, text/event-stream;q=0": "application/json",
}
CALL = {"name": "example_greet", "arguments": {"name": "Ada"}}


def request(
    version: str, method: str, params: dict[str, Any], meta: dict[str, Any] | None = None
) -> httpx.Request:
    """A POST without an Accept header: `httpx` would add one to those of a client."""
    about = {**(ENVELOPE if version == MODERN else {}), **(meta or {})}
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {**params, "_meta": about} if about else params,
    }
    headers = {"content-type": "application/json", "mcp-protocol-version": version}
    if version == MODERN:
        headers |= {"mcp-method": method}
        headers |= {"mcp-name": params["name"]} if "name" in params else {}
    return httpx.Request("POST", "http://gateway.test/mcp", json=body, headers=headers)


async def sent(site: Any, asked: httpx.Request, accept: str | None) -> httpx.Response:
    async with site.http() as http:
        asked.headers["authorization"] = http.headers["authorization"]
        if accept is not None:
            asked.headers["accept"] = accept
        return await http.send(asked)


def message_of(answer: httpx.Response) -> Any:
    if answer.headers["content-type"] == "application/json":
        return answer.json()
    (event,) = [each for each in answer.text.split("\r\n\r\n") if each.startswith("event")]
    name, data = event.split("\r\n")
    assert name == "event: message"
    return json.loads(data.removeprefix("data: "))


@pytest.mark.usefixtures("mcp_path")
@pytest.mark.parametrize("accept", [None, *ACCEPTED])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", {}), ("tools/call", CALL), ("tools/call", {**CALL, "arguments": {"name": 1}})],
    ids=["list", "call", "refused"],
)
async def test_an_answer_has_the_type_that_is_accepted(
    site: Any, version: str, accept: str | None, method: str, params: dict[str, Any]
) -> None:
    answer = await sent(site, request(version, method, params), accept)
    usual = await sent(site, request(version, method, params), "*/*")
    assert answer.status_code == usual.status_code == 200
    kind = answer.headers["content-type"]
    assert kind == (usual.headers["content-type"] if accept is None else ACCEPTED[accept])
    assert message_of(answer)["id"] == 7
    whole, other = ([*message_of(each)["result"]] for each in (answer, usual))
    assert whole == other


@pytest.mark.parametrize("accept", [None, *ACCEPTED])
async def test_a_session_begins_in_any_type(site: Any, accept: str | None) -> None:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "curl", "version": "8"},
    }
    answer = await sent(site, request("2025-11-25", "initialize", params), accept)
    assert message_of(answer)["result"]["protocolVersion"] == "2025-11-25"
    assert answer.headers["mcp-session-id"]
    assert len(answer.headers.get_list("content-type")) == 1
    assert int(answer.headers.get("content-length", len(answer.content))) == len(answer.content)


@pytest.mark.parametrize("version", [MODERN, "2025-11-25"])
async def test_json_alone_leaves_out_what_comes_before_the_answer(site: Any, version: str) -> None:
    meta = {"progressToken": 1} | (LOGGED if version == MODERN else {})
    asked = request(version, "tools/call", CALL, meta)
    answer = await sent(site, asked, "application/json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["structuredContent"]["greeting"] == "Hello Ada"


@pytest.mark.parametrize("accept", ["application/json", "text/html", ""])
@pytest.mark.parametrize("method", ["subscriptions/listen", " subscriptions/listen\t"])
async def test_a_subscription_needs_a_stream_and_says_so(
    site: Any, accept: str, method: str
) -> None:
    asked = request(MODERN, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    asked.headers["mcp-method"] = method
    answer = await sent(site, asked, accept)
    assert answer.status_code == 406
    assert "text/event-stream" in answer.json()["detail"]
    assert "application/json" not in answer.json()["detail"]


async def test_a_refusal_names_both_types(site: Any) -> None:
    answer = await sent(site, request("2025-11-25", "tools/list", {}), "text/html")
    assert answer.status_code == 406
    assert "application/json or text/event-stream" in answer.json()["detail"]


@pytest.mark.parametrize("accept", [None, "application/json", "text/event-stream"])
@pytest.mark.parametrize("version", VERSIONS)
async def test_an_accepted_notification_has_no_type(
    site: Any, version: str, accept: str | None
) -> None:
    asked = request(version, "notifications/progress", {"progressToken": 1, "progress": 1})
    body = json.loads(asked.content)
    del body["id"]
    asked = httpx.Request(
        "POST",
        asked.url,
        json=body,
        headers={k: v for k, v in asked.headers.items() if k != "content-length"},
    )
    answer = await sent(site, asked, accept)
    assert (answer.status_code, answer.content) == (202, b"")
    assert "content-type" not in answer.headers
