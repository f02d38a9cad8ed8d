"""The clients of the suite notice answers that contradict themselves, and read files alike."""

import json

import httpx
import pytest

from gateway.testing.transports import (
    HANDSHAKE,
    MODERN,
    BrokenAnswer,
    CallAnswer,
    Mcp,
    Rest,
    TransportFailed,
    over_http,
    request,
)
from tests.unit.shipped import catalogue

FILE = {"content_type": "image/png", "size": 3, "data": "QUJD"}


def text(value):
    return {"type": "text", "text": json.dumps(value)}


async def asked(body, *, status=200, media_type="application/json", version=None):
    """The answer of a gateway that says `body`, over REST or in a revision of MCP."""
    entry = catalogue().find("example.greet")
    message = body if version is None else {"jsonrpc": "2.0", "id": 1, "result": body}
    reply = httpx.Response(status, headers={"content-type": media_type}, json=message)
    transport = httpx.MockTransport(lambda _: reply)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        ask = Rest(http).call if version is None else Mcp(over_http(http), version).call
        return await ask(entry, b"{}")


@pytest.mark.parametrize(
    "result",
    [
        {"content": [text({"a": 1})], "structuredContent": {"a": 2}},
        {"content": [text({"status": 503})], "structuredContent": {}, "isError": True},
    ],
)
async def test_a_result_of_mcp_says_one_thing(result):
    with pytest.raises(BrokenAnswer):
        await asked(result, version=MODERN)


@pytest.mark.parametrize(
    ("status", "media_type"), [(404, "application/json"), (500, "application/problem+json")]
)
async def test_a_refusal_over_rest_is_a_problem_with_its_own_status(status, media_type):
    with pytest.raises(BrokenAnswer):
        await asked({"status": 404, "code": "NOT_FOUND"}, status=status, media_type=media_type)


@pytest.mark.parametrize(
    "block", [{"type": "image", "data": "QUJD"}, {"type": "resource", "resource": {"blob": "QUJD"}}]
)
async def test_a_file_has_its_bytes_over_each_transport(block):
    described = {name: FILE[name] for name in ("content_type", "size")}
    result = {"content": [text(described), block], "structuredContent": described}
    over_mcp = await asked(result, version=HANDSHAKE)
    assert over_mcp == await asked(FILE) == CallAnswer(True, 200, None, frozenset(), FILE)


async def test_another_revision_than_the_one_that_is_tried_is_noticed():
    async def exchange(message, headers):
        return {"result": {"protocolVersion": "2025-06-18"}}

    with pytest.raises(TransportFailed, match=f"spoke 2025-06-18 instead of {HANDSHAKE}"):
        await Mcp(exchange, HANDSHAKE).shake_hands()


def test_arguments_are_sent_as_they_are():
    headers, body = request(MODERN, "tools/call", {"name": "a"}, b'{"b":1,"b":')
    assert body.endswith(b',"arguments":{"b":1,"b":}}')
    assert (headers["mcp-method"], headers["mcp-name"]) == ("tools/call", "a")
