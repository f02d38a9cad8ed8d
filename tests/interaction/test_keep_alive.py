"""While a call over MCP takes long, its client gets pings, so that no proxy ends the connection."""

import asyncio
import json
from functools import partial
from typing import Any

import httpx
import pytest
from mcp.server import _streamable_http_modern

from gateway.transports.mcp import paths
from gateway.transports.mcp.answers import LateAnswers
from tests.bridged import bridged
from tests.eventually import eventually
from tests.interaction.conftest import served

MODERN = "2026-07-28"
WAIT = {"name": "example_wait", "arguments": {"name": "Ada"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
SDK = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
ERAS = pytest.mark.parametrize("mode", [MODERN, "legacy"])


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ping after a moment."""
    monkeypatch.setattr(paths, "LateAnswers", partial(LateAnswers, 0.02))
    monkeypatch.setattr(_streamable_http_modern, "_SSE_PING_INTERVAL", 0.02)


@ERAS
async def test_the_sdks_client_gets_an_answer_that_became_a_stream(site: Any, mode: str) -> None:
    pinged = asyncio.Event()

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        async def note(message: Any) -> None:
            await send(message)
            if message.get("body", b"").startswith(b": ping"):
                pinged.set()

        await site.app(scope, receive, note)

    app: Any = noted
    async with served(app) as url, site.mcp(mode=mode, url=url) as client:
        call = asyncio.create_task(client.call_tool("example_wait", {"name": "Ada"}))
        await pinged.wait()
        site.handlers.release.set()
        result = await call
        at_once = await client.call_tool("example_greet", {"name": "Ada"})

    assert result.structured_content == {"greeting": "at last"}
    assert at_once.structured_content["greeting"] == "Hello Ada"


def request(version: str, meta: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The headers and the body of a call that waits."""
    params = WAIT | {"_meta": meta | (ENVELOPE if version == MODERN else {})}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
    }
    if version == MODERN:
        headers |= {"mcp-method": "tools/call", "mcp-name": "example_wait"}
    return headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("version", "meta"), [(MODERN, {}), (MODERN, SDK), ("2025-11-25", {}), ("2024-11-05", {})]
)
async def test_pings_come_while_it_runs_and_the_answer_is_the_only_event(
    site: Any, socket_site: str, admin_key: str, version: str, meta: dict[str, Any]
) -> None:
    headers, body = request(version, meta)
    authorization = {"authorization": f"Bearer {admin_key}"}
    lines: list[str] = []
    async with (
        httpx.AsyncClient(headers=authorization) as http,
        http.stream("POST", f"{socket_site}/mcp", headers=headers, json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            lines.append(line)
            if lines.count(": ping") == 2:
                site.handlers.release.set()

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert lines.count(": ping") >= 2
    (data,) = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    message = json.loads(data)
    assert (message["id"], message["result"]["isError"]) == (1, False)
    assert [record.outcome for record in await site.records()] == ["ok"]


async def test_a_client_that_leaves_between_pings_cancels_the_read(
    site: Any, socket_site: str, admin_key: str
) -> None:
    headers, body = request(MODERN, {})
    authorization = {"authorization": f"Bearer {admin_key}"}
    async with (
        httpx.AsyncClient(headers=authorization) as http,
        http.stream("POST", f"{socket_site}/mcp", headers=headers, json=body) as answer,
    ):
        async for line in answer.aiter_lines():
            if line == ": ping":
                break

    async def outcomes() -> list[str] | None:
        return [record.outcome for record in await site.records()] or None

    assert await eventually(outcomes) == ["CANCELLED"]


async def test_pings_do_not_lengthen_the_time_of_the_bridge(
    site: Any, socket_site: str, admin_key: str
) -> None:
    async with bridged(f"{socket_site}/mcp", admin_key, answer_seconds=0.1) as client:
        with pytest.raises(Exception, match=r"it did not answer within 0\.1 seconds"):
            await client.call_tool("example_wait", {"name": "Ada"})
