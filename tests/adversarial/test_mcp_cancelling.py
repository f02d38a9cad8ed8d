"""MCP callers who cancel what is not theirs."""

import asyncio
from typing import Any

import pytest

VERSION = "2025-11-25"
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": VERSION,
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
WAIT = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "example_wait", "arguments": {"name": "Ada"}},
}


def cancel(request_id: Any) -> dict[str, Any]:
    """The notification that cancels this request."""
    return {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": request_id},
    }


async def session_of(http: Any) -> str:
    """Its own session."""
    answer = await http.post("/mcp", headers=HEADERS, json=INITIALIZE)
    session: str = answer.headers["mcp-session-id"]
    return session


@pytest.mark.attack(
    "a client cancels calls of others by their request ids, which every client counts from one: "
    "with another key and the stolen session id, with the same key and another, no, a repeated or "
    "an invented session, by ids of another type",
    required="each notification is answered 202 and cancels nothing; the call ends as its own "
    "client wants, and the audit says so",
)
async def test_cancelling_the_calls_of_others(site: Any, admin_key: str, greeter_key: str) -> None:
    async with site.http(admin_key) as owner, site.http(greeter_key) as other:
        session, same_key = await session_of(owner), await session_of(owner)
        own = HEADERS | {"mcp-session-id": session}
        call = asyncio.create_task(owner.post("/mcp", headers=own, json=WAIT))
        await site.handlers.entered.wait()
        attempts = [
            (other, [("mcp-session-id", session)], 1),
            (other, [("mcp-session-id", await session_of(other))], 1),
            (owner, [("mcp-session-id", same_key)], 1),
            (owner, [], 1),
            (owner, [("mcp-session-id", "")], 1),
            (owner, [("mcp-session-id", session), ("mcp-session-id", session)], 1),
            (owner, [("mcp-session-id", session + "x")], 1),
            (owner, [("mcp-session-id", session[:-1])], 1),
            (owner, [("mcp-session-id", session)], "1"),
            (owner, [("mcp-session-id", session)], 2),
        ]
        for http, named, request_id in attempts:
            answer = await http.post(
                "/mcp", headers=[*HEADERS.items(), *named], json=cancel(request_id)
            )
            assert answer.status_code == 202, named
        for odd in (True, 1.0, None, [1], {"a": 1}):
            assert (await owner.post("/mcp", headers=own, json=cancel(odd))).status_code < 500
        site.handlers.release.set()
        answer = await call
    assert answer.json()["result"]["structuredContent"] == {"greeting": "at last"}
    assert site.handlers.cancelled is False
    assert [(each.operation, each.outcome) for each in await site.records()] == [
        ("example.wait", "ok")
    ]
