"""A client cancels its own call, at every face of MCP, and the audit says so."""

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client

from gateway.contract.operation import Effect
from tests.bridged import bridged
from tests.eventually import PATIENCE_SECONDS, eventually

MODERN = "2026-07-28"
HANDSHAKES = ["2025-11-25", "2025-06-18", "2025-03-26", None]
BOTH = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
ERAS = pytest.mark.parametrize("mode", [MODERN, "legacy"])


def initialize(version: str | None) -> dict[str, Any]:
    """The first message of a conversation."""
    params = {
        "protocolVersion": version or "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def wait(message_id: int | str, **more: Any) -> dict[str, Any]:
    """A call of the tool that waits until it is released or cancelled."""
    params = {"name": "example_wait", "arguments": {"name": "Ada"}, **more}
    return {"jsonrpc": "2.0", "id": message_id, "method": "tools/call", "params": params}


def cancelled(message_id: Any) -> dict[str, Any]:
    """The notification that nobody waits for this message any more."""
    params = {"requestId": message_id, "reason": "changed my mind"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def headers(version: str | None, session: str | None = None) -> dict[str, str]:
    """What a client of this revision sends with each message."""
    fields = dict(BOTH)
    if version is not None:
        fields["mcp-protocol-version"] = version
    if session is not None:
        fields["mcp-session-id"] = session
    return fields


async def session_of(http: Any, version: str | None) -> str:
    """The session that the gateway names for a new conversation."""
    answer = await http.post("/mcp", headers=BOTH, json=initialize(version))
    assert answer.status_code == 200
    session: str = answer.headers["mcp-session-id"]
    return session


def message_of(answer: Any) -> dict[str, Any]:
    """The one message of an answer, which is JSON or an event stream."""
    if answer.headers["content-type"].startswith("application/json"):
        return dict(answer.json())
    (data,) = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    return dict(json.loads(data))


SDK = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
"""What no fast path takes."""


@pytest.mark.parametrize(
    ("version", "message_id", "more"),
    [
        ("2025-11-25", 1, {}),
        ("2025-11-25", "one", SDK),
        ("2025-06-18", "one", {}),
        ("2025-03-26", 1, SDK),
        (None, 1, {}),
        (None, "one", SDK),
    ],
)
async def test_a_notification_cancels_the_call_over_http(
    site: Any, version: str | None, message_id: int | str, more: dict[str, Any]
) -> None:
    async with site.http() as http:
        named = headers(version, await session_of(http, version))
        call = asyncio.create_task(http.post("/mcp", headers=named, json=wait(message_id, **more)))
        await site.handlers.entered.wait()
        accepted = await http.post("/mcp", headers=named, json=cancelled(message_id))
        answer = await asyncio.wait_for(call, PATIENCE_SECONDS)
    assert (accepted.status_code, accepted.content) == (202, b"")
    assert answer.status_code == 200
    message = message_of(answer)
    assert message["id"] == message_id
    assert message["error"] == {"code": -32800, "message": "Request cancelled"}
    assert site.handlers.cancelled is True
    (record,) = await site.records()
    assert (record.operation, record.outcome, record.status) == ("example.wait", "CANCELLED", 499)


@pytest.mark.parametrize("version", HANDSHAKES)
async def test_a_notification_for_a_call_that_has_ended_changes_nothing(
    site: Any, version: str | None
) -> None:
    site.handlers.release.set()
    async with site.http() as http:
        named = headers(version, await session_of(http, version))
        answer = await http.post("/mcp", headers=named, json=wait(1))
        late = await http.post("/mcp", headers=named, json=cancelled(1))
        again = await http.post("/mcp", headers=named, json=wait(1))
    assert late.status_code == 202
    for each in (answer, again):
        (text,) = message_of(each)["result"]["content"]
        assert json.loads(text["text"]) == {"greeting": "at last"}
    assert [record.outcome for record in await site.records()] == ["ok", "ok"]


@ERAS
async def test_the_sdks_client_cancels_over_http(site: Any, socket_site: str, mode: str) -> None:
    """By a notification in the handshake revisions, by closing the stream from 2026-07-28 on."""
    async with site.mcp(mode=mode, url=socket_site) as client:
        await cancel_a_wait(client, site)
        assert len((await client.list_tools()).tools) == 6
    assert [record.outcome for record in await site.records()] == ["CANCELLED"]


@ERAS
async def test_the_sdks_client_cancels_through_the_bridge(
    site: Any, socket_site: str, admin_key: str, mode: str
) -> None:
    async with (
        bridged(f"{socket_site}/mcp", admin_key, mode) as client,
    ):
        await cancel_a_wait(client, site)
        assert len((await client.list_tools()).tools) == 6
    assert [record.outcome for record in await site.records()] == ["CANCELLED"]


async def cancel_a_wait(client: Client, site: Any) -> None:
    """Call the tool that waits, leave it once it runs, and see that it was cancelled."""
    async with anyio.create_task_group() as calls:
        calls.start_soon(client.call_tool, "example_wait", {"name": "Ada"})
        await site.handlers.entered.wait()
        calls.cancel_scope.cancel()
    await eventually(lambda: outcome_of(site))
    assert site.handlers.cancelled is True


async def outcome_of(site: Any) -> str | None:
    """How the last call ended, None while it runs."""
    records = await site.records()
    return records[-1].outcome if records else None


async def test_a_posted_notification_does_nothing_where_closing_the_stream_cancels(
    site: Any,
) -> None:
    """From 2026-07-28 on the protocol has no such notification over HTTP."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    named = headers(MODERN, "session") | {"mcp-method": "tools/call", "mcp-name": "example_wait"}
    async with site.http() as http:
        call = asyncio.create_task(http.post("/mcp", headers=named, json=wait(1, _meta=envelope)))
        await site.handlers.entered.wait()
        for version in (MODERN, "2025-11-25"):
            accepted = await http.post(
                "/mcp", headers=headers(version, "session"), json=cancelled(1)
            )
            assert accepted.status_code == 202
        site.handlers.release.set()
        answer = await asyncio.wait_for(call, PATIENCE_SECONDS)
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["structuredContent"] == {"greeting": "at last"}
    assert site.handlers.cancelled is False


@pytest.mark.parametrize("version", HANDSHAKES)
async def test_a_client_that_leaves_without_a_word_has_not_cancelled(
    site: Any, socket_site: str, version: str | None
) -> None:
    async with site.http() as http:
        named = headers(version, await session_of(http, version))
    await call_and_leave(site, socket_site, "/mcp", wait(1), named)
    site.handlers.release.set()
    assert await eventually(lambda: outcome_of(site)) == "ok"
    assert site.handlers.cancelled is False


async def call_and_leave(
    site: Any, url: str, path: str, body: dict[str, Any], named: dict[str, str]
) -> None:
    """Send a call of the tool that waits, and close the connection while it runs."""
    content = json.dumps(body).encode()
    async with site.http() as http:
        key = http.headers["authorization"]
    fields = named | {
        "host": "gateway.test",
        "authorization": key,
        "content-length": str(len(content)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    _, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + content)
    await site.handlers.entered.wait()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


REST = [
    ("/v1/example/wait", {"name": "Ada"}),
    ("/tools/execute", {"name": "example.wait", "arguments": {"name": "Ada"}}),
]


@pytest.mark.parametrize(("path", "body"), REST)
async def test_a_read_ends_when_its_client_leaves_over_rest(
    site: Any, socket_site: str, path: str, body: dict[str, Any]
) -> None:
    await call_and_leave(site, socket_site, path, body, {"content-type": "application/json"})
    assert await eventually(lambda: outcome_of(site)) == "CANCELLED"
    assert site.handlers.cancelled is True
    (record,) = await site.records()
    assert (record.operation, record.status) == ("example.wait", 499)


@pytest.mark.parametrize("effect", [Effect.WRITE])
@pytest.mark.parametrize(("path", "body"), REST)
async def test_a_write_goes_on_when_its_client_leaves_over_rest(
    site: Any, socket_site: str, path: str, body: dict[str, Any]
) -> None:
    named = {"content-type": "application/json", "idempotency-key": "k1"}
    await call_and_leave(site, socket_site, path, body, named)
    await release_after_leaving(site)
    async with site.http(**named) as http:
        answer = await http.post(path, json=body)
    assert answer.headers["idempotency-replayed"] == "true"
    assert "at last" in answer.text


@pytest.mark.parametrize("effect", [Effect.WRITE])
@pytest.mark.parametrize(
    "meta", [{}, {"io.modelcontextprotocol/logLevel": "info"}], ids=["fast", "sdk"]
)
async def test_a_write_goes_on_when_its_stream_is_closed(
    site: Any, socket_site: str, meta: dict[str, Any]
) -> None:
    async with site.mcp(mode=MODERN, url=socket_site) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(partial(client.call_tool, "example_wait", {"name": "Ada"}, meta=meta))
            await site.handlers.entered.wait()
            calls.cancel_scope.cancel()
        await release_after_leaving(site)


@pytest.mark.parametrize("effect", [Effect.WRITE])
@pytest.mark.parametrize(
    "more", [{}, {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}], ids=["fast", "sdk"]
)
async def test_a_notification_does_not_cut_off_a_write(site: Any, more: dict[str, Any]) -> None:
    """The caller gets the true answer: it came too late to cancel."""
    async with site.http() as http:
        named = headers("2025-11-25", await session_of(http, "2025-11-25"))
        call = asyncio.create_task(http.post("/mcp", headers=named, json=wait(1, **more)))
        await site.handlers.entered.wait()
        accepted = await http.post("/mcp", headers=named, json=cancelled(1))
        await release_after_leaving(site)
        message = message_of(await asyncio.wait_for(call, PATIENCE_SECONDS))
    assert accepted.status_code == 202
    assert message["result"]["structuredContent"] == {"greeting": "at last"}


async def release_after_leaving(site: Any) -> None:
    """Let the gateway see that the caller has left, then let the write end."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert [record.outcome for record in await site.records()] == ["PENDING"]
    site.handlers.release.set()
    assert await eventually(lambda: settled(site)) == "ok"
    assert site.handlers.cancelled is False


async def settled(site: Any) -> str | None:
    """How the last call ended, None while its record is pending."""
    outcome = await outcome_of(site)
    return None if outcome == "PENDING" else outcome
