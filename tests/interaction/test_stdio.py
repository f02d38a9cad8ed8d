"""MCP over standard streams, in a process of its own, and the bridge to a gateway elsewhere."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from gateway.transports.bridge import RemoteGateway, build_bridge

MODERN = "2026-07-28"
PROGRAM = Path(__file__).with_name("stdio_program.py")


@pytest.fixture
def program() -> StdioServerParameters:
    """The command that serves the catalogue under test on stdio, as the agent `greeter`."""
    return StdioServerParameters(command=sys.executable, args=[str(PROGRAM)])


@pytest.mark.parametrize("mode", [MODERN, "auto", "legacy"])
async def test_a_client_lists_and_calls_over_stdio_in_both_eras(
    program: StdioServerParameters, mode: str
) -> None:
    """The handler and a child of it print to standard output, which must not reach the wire."""
    async with Client(program, mode=mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool("example_greet", {"name": "Ada"})
        refused = await client.call_tool("example_greet", {})
        with pytest.raises(MCPError, match="Unknown tool: other_greet"):
            await client.call_tool("other_greet", {"name": "Ada"})
    assert [tool.name for tool in listed.tools] == ["example_greet"]
    assert result.structured_content["greeting"] == "Hello Ada"
    assert refused.is_error is True


async def test_lines_that_are_not_strict_json_are_answered_and_the_next_ones_served(
    program: StdioServerParameters,
) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    good = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": envelope}}
    lines = [b"{", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b'"\xff"', b"", b"[]"]
    process = await asyncio.create_subprocess_exec(
        program.command,
        *program.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    text = b"\n".join([*lines, json.dumps(good).encode()]) + b"\n"
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    answers = [json.loads(await process.stdout.readline()) for _ in range(5)]
    process.stdin.close()
    assert await process.wait() == 0
    assert [answer["error"]["code"] for answer in answers[:4]] == [-32700] * 3 + [-32600]
    assert [answer["id"] for answer in answers] == [None, None, None, None, 5]
    assert answers[0]["error"]["data"]["code"] == "VALIDATION_ERROR"
    assert answers[4]["result"]["tools"][0]["name"] == "example_greet"


Bridged = Callable[..., Any]


@pytest.fixture
def bridged(site: Any, socket_site: Any) -> Bridged:
    """A client behind a bridge to the gateway under test, in the era `mode` on its own side."""

    @asynccontextmanager
    async def connect(key: str, mode: str) -> AsyncIterator[Client]:
        remote = RemoteGateway(f"{socket_site}/mcp", key)
        async with Client(build_bridge(remote, "1.2.3"), mode=mode, cache=None) as client:
            yield client

    return connect


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_the_bridge_passes_on_what_the_remote_gateway_says(
    bridged: Bridged, mode: str, admin_key: str, site: Any
) -> None:
    async with bridged(admin_key, mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool("example_greet", {"name": "Ada"})
        refused = await client.call_tool("example_greet", {"name": 7})
        with pytest.raises(MCPError, match="Unknown tool: nothing") as unknown:
            await client.call_tool("nothing", {})
    assert len(listed.tools) == len(site.catalogue.entries)
    assert result.structured_content["greeting"] == "Hello Ada"
    assert json.loads(refused.content[0].text)["errors"][0]["pointer"] == "/name"
    assert unknown.value.data["code"] == "TOOL_NOT_FOUND"


async def test_the_bridge_says_that_the_key_is_refused(bridged: Bridged) -> None:
    async with bridged("gw_wrong-key-0123456789", MODERN) as client:
        with pytest.raises(MCPError, match=r"refused the key \(401\)") as caught:
            await client.list_tools()
    assert "gw_wrong" not in str(caught.value)


async def test_the_bridge_says_that_there_is_no_gateway(unused_tcp_port: int) -> None:
    remote = RemoteGateway(f"http://127.0.0.1:{unused_tcp_port}/mcp", "key")
    with pytest.raises(MCPError, match="cannot be reached"):
        await remote.list_tools(None)


async def test_the_bridge_says_that_the_url_is_no_mcp_endpoint(
    socket_site: str, admin_key: str
) -> None:
    with pytest.raises(MCPError, match="should end in /mcp"):
        await RemoteGateway(f"{socket_site}/elsewhere", admin_key).list_tools(None)
