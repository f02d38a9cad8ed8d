"""Messages of a call to its client, over HTTP: only to those who ask, in both eras."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import (
    EmptyResult,
    LoggingMessageNotificationParams,
    SetLevelRequest,
    SetLevelRequestParams,
)
from msgspec.structs import replace

from gateway.catalogue import Entry
from gateway.contract.operation import PythonBinding
from tests.bridged import bridged
from tests.interaction.lifespan import on_a_socket
from tests.interaction.long_site import ADA, LongSite, open_site

MODERN = "2026-07-28"
LEVEL = "io.modelcontextprotocol/logLevel"
VERSION = "2025-11-25"


async def greet(arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Says something of each of two levels."""
    context.log("debug", "Looking for the name")
    context.log("warning", "The name is\u200b short")
    return {"greeting": f"Hello {arguments['name']}"}


def talkative(entry: Entry) -> Entry:
    """The tool `example.greet` with the handler above."""
    if entry.id != "example.greet":
        return entry
    binding = PythonBinding(run=greet, has_context=True)
    return replace(entry, operation=replace(entry.operation, task="never", binding=binding))


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[LongSite]:
    async with open_site("memory:", tmp_path, change=talkative) as opened:
        yield opened


async def frames(site: LongSite, body: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    """The JSON-RPC messages of the answer."""
    sent = {"accept": "application/json, text/event-stream", **headers}
    answer = await site.post("/mcp", {"jsonrpc": "2.0", **body}, **sent)
    if answer.headers["content-type"].startswith("application/json"):
        return [answer.json()]
    lines = answer.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


async def called(site: LongSite, **headers: str) -> list[dict[str, Any]]:
    """The messages of a call of the handshake era, without the result."""
    params = {"name": "example_greet", "arguments": ADA}
    *said, answer = await frames(
        site, {"id": 2, "method": "tools/call", "params": params}, **headers
    )
    assert answer["result"]["structuredContent"] == {"greeting": "Hello Ada"}
    return [each["params"] for each in said]


async def set_level(site: LongSite, level: str, **headers: str) -> dict[str, Any]:
    body = {"id": 1, "method": "logging/setLevel", "params": {"level": level}}
    (answer,) = await frames(site, body, **headers)
    return answer


async def test_a_session_that_has_set_a_level_gets_the_messages_of_its_calls(
    site: LongSite,
) -> None:
    own = {"mcp-session-id": "one", "mcp-protocol-version": VERSION}
    assert await called(site, **own) == []
    assert (await set_level(site, "info", **own))["result"] == {}
    warning = {"level": "warning", "logger": "example_greet", "data": "The name is short"}
    assert await called(site, **own) == [warning]
    assert await called(site, **{**own, "mcp-session-id": "two"}) == []
    await set_level(site, "debug", **own)
    assert [each["level"] for each in await called(site, **own)] == ["debug", "warning"]


async def test_a_gateway_whose_handlers_can_log_declares_it(site: LongSite) -> None:
    for mode in ("auto", "legacy"):
        async with site.mcp(mode) as client:
            assert client.server_capabilities.logging is not None, mode


async def test_a_level_without_a_session_is_refused(site: LongSite) -> None:
    answer = await set_level(site, "info", **{"mcp-protocol-version": VERSION})
    assert answer["error"]["code"] == -32600
    assert "Mcp-Session-Id" in answer["error"]["message"]


async def test_a_request_of_the_newest_revision_asks_for_its_messages(site: LongSite) -> None:
    said: list[str] = []

    async def note(params: LoggingMessageNotificationParams) -> None:
        said.append(str(params.data))

    for level, count in ((None, 0), ("debug", 2), ("notice", 1), ("alert", 0)):
        said.clear()
        async with site.mcp(MODERN, on_log=note) as client:
            meta = {} if level is None else {LEVEL: level}
            result = await client.call_tool("example_greet", ADA, meta=meta)
        assert result.structured_content == {"greeting": "Hello Ada"}
        assert len(said) == count, level


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_the_bridge_carries_the_messages_of_a_call(site: LongSite, mode: str) -> None:
    said: list[str] = []

    async def note(params: LoggingMessageNotificationParams) -> None:
        said.append(str(params.data))

    async with (
        on_a_socket(site.app) as url,
        bridged(f"{url}/mcp", site.key, mode, logging_callback=note) as client,
    ):
        if mode == "legacy":
            await client.session.send_request(
                SetLevelRequest(params=SetLevelRequestParams(level="debug")), EmptyResult
            )
        result = await client.call_tool("example_greet", ADA, meta={LEVEL: "debug"})
    assert result.structured_content == {"greeting": "Hello Ada"}
    assert said == ["Looking for the name", "The name is short"]


async def test_an_unknown_level_is_refused(site: LongSite) -> None:
    async with site.mcp(MODERN) as client:
        with pytest.raises(MCPError, match="nvalid"):
            await client.call_tool("example_greet", ADA, meta={LEVEL: "loud"})


async def test_the_words_of_a_call_stand_in_no_log(
    site: LongSite, caplog: pytest.LogCaptureFixture
) -> None:
    async with site.mcp(MODERN) as client:
        await client.call_tool("example_greet", ADA, meta={LEVEL: "debug"})
    assert "The name is" not in caplog.text
