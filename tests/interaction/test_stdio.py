"""MCP over standard streams, and the bridge to a gateway elsewhere."""

import asyncio
import json
import os
import re
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from gateway.catalogue import Entry
from tests.bridged import bridged
from tests.interaction.conftest import Handlers
from tests.interaction.local import serve_locally
from tests.standard_streams import host, on_pipes

MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("mode", [MODERN, "auto", "legacy"])
async def test_a_client_lists_and_calls_over_stdio_in_both_eras(site: Any, mode: str) -> None:
    async with Client(host(serve_locally(site)), mode=mode) as client:
        declared = client.server_capabilities.model_dump(exclude_none=True, by_alias=True)
        listed = await client.list_tools()
        result = await client.call_tool("example_greet", {"name": "Ada"})
        refused = await client.call_tool("example_greet", {})
        with pytest.raises(MCPError, match="Unknown tool: other_greet"):
            await client.call_tool("other_greet", {"name": "Ada"})
    assert [tool.name for tool in listed.tools] == ["example_greet"]
    assert result.structured_content["greeting"] == "Hello Ada"
    assert refused.is_error is True
    # The server has tools only.
    if mode != MODERN:
        assert declared == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_bridge_declares_what_the_remote_does(
    site: Any, socket_site: str, admin_key: str, mode: str
) -> None:
    url = f"{socket_site}/mcp"
    async with (
        bridged(url, admin_key, mode) as behind,
        site.mcp(admin_key, mode=mode) as direct,
    ):
        assert behind.server_info == direct.server_info
        assert behind.server_capabilities == direct.server_capabilities
        assert behind.protocol_version == direct.protocol_version


async def test_lines_that_are_not_strict_json_are_answered_and_the_next_ones_served(
    site: Any,
) -> None:
    good = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    lines = [b"{", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b'"\xff"', b"", b"[]"]
    async with on_pipes(serve_locally(site)) as pipes:
        await pipes.send(*lines, json.dumps(good).encode())
        answers = [json.loads(await pipes.reader.readline()) for _ in range(5)]
        pipes.close()
        await pipes.serving
    codes = [answer["error"]["code"] for answer in answers[:4]]
    assert codes == [-32700, -32600, -32700, -32600]
    assert [answer["id"] for answer in answers] == [None, None, None, None, 5]
    assert answers[0]["error"]["data"]["code"] == "VALIDATION_ERROR"
    assert answers[4]["result"]["tools"][0]["name"] == "example_greet"


async def test_a_line_that_is_too_long_is_refused_and_the_next_ones_served(site: Any) -> None:
    """The server allows 65536 bytes. The id may be at the end of the line."""
    fitting = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    long = b'{"method":"ping","params":{"x":"%b"},"jsonrpc":"2.0","id":6}' % (b"x" * 3_000_000)
    async with on_pipes(serve_locally(site)) as pipes:
        await pipes.send(fitting.ljust(65537), b"x" * 3_000_000, long, fitting.ljust(65536))
        answers = [json.loads(await pipes.reader.readline()) for _ in range(4)]
    assert [answer["id"] for answer in answers] == [7, None, 6, 7]
    for answer in answers[:3]:
        assert answer["error"]["code"] == -32600
        assert answer["error"]["data"]["status"] == 413
        detail = answer["error"]["data"]["detail"]
        assert "larger than 65536 bytes, the limit of the settings max_body_bytes" in detail


async def test_a_line_may_be_as_long_as_the_tools_of_the_agent_allow(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entry, "longest_text", property(lambda _: 200_000))
    fitting = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    async with on_pipes(serve_locally(site)) as pipes:
        await pipes.send(fitting.ljust(265536), fitting.ljust(265537))
        served, refused = [json.loads(await pipes.reader.readline()) for _ in range(2)]
    assert served["result"] is not None
    assert "larger than 265536 bytes" in refused["error"]["data"]["detail"]
    assert "max_upload_bytes" in refused["error"]["data"]["detail"]


async def test_a_message_that_is_too_large_for_the_remote_ends_its_call_over_the_bridge(
    socket_site: str, admin_key: str
) -> None:
    """The bridge itself takes more than a remote does, whose contracts decide."""
    async with bridged(f"{socket_site}/mcp", admin_key) as client:
        with pytest.raises(MCPError, match=r"too large .* larger than \d+ bytes") as caught:
            await client.call_tool("example_greet", {"name": "x" * 3_000_000})
        served = await client.call_tool("example_greet", {"name": "Ada"})
    assert caught.value.code == -32600
    assert served.structured_content["greeting"] == "Hello Ada"


@pytest.fixture(autouse=True)
def _careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The handler writes to standard output."""
    greet = Handlers.greet

    async def careless(self: Any, *call: Any) -> dict[str, Any]:
        os.write(1, b"written by a handler\n")
        return await greet(self, *call)

    monkeypatch.setattr(Handlers, "greet", careless)


async def test_what_handlers_write_never_reaches_the_wire(
    site: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """tests/functional/interaction shows it of a process, and of its children."""
    params = {"name": "example_greet", "arguments": {"name": "Ada"}, "_meta": ENVELOPE}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with on_pipes(serve_locally(site)) as pipes:
        await pipes.send(json.dumps(request).encode())
        answer = json.loads(await pipes.reader.readline())
        pipes.close()
        await pipes.serving
    assert answer["result"]["structuredContent"]["greeting"] == "Hello Ada"
    assert "written by a handler" in capfd.readouterr().err


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_the_bridge_passes_on_what_the_remote_gateway_says(
    socket_site: str, mode: str, admin_key: str, site: Any
) -> None:
    async with bridged(f"{socket_site}/mcp", admin_key, mode) as client:
        listed = await client.list_tools()
        result = await client.call_tool("example_greet", {"name": "Ada"})
        refused = await client.call_tool("example_greet", {"name": 7})
        with pytest.raises(MCPError, match="Unknown tool: nothing") as unknown:
            await client.call_tool("nothing", {})
    assert len(listed.tools) == len(site.catalogue.entries)
    assert result.structured_content["greeting"] == "Hello Ada"
    assert json.loads(refused.content[0].text)["errors"][0]["pointer"] == "/name"
    assert unknown.value.data["code"] == "TOOL_NOT_FOUND"


async def why_not(url: str, key: str | None) -> str:
    """What the bridge to `url` says to a host of 2026-07-28 that lists the tools."""
    async with bridged(url, key, MODERN) as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
    return str(caught.value)


async def test_the_bridge_says_that_the_key_is_refused(socket_site: str) -> None:
    said = await why_not(f"{socket_site}/mcp", "gw_wrong-key-0123456789")
    assert "refused the key (401)" in said
    assert "gw_wrong" not in said


async def test_the_bridge_says_that_there_is_no_gateway(unused_tcp_port: int) -> None:
    said = await why_not(f"http://127.0.0.1:{unused_tcp_port}/mcp", "key")
    assert "cannot be reached (ConnectError)" in said


async def test_a_host_of_the_handshake_is_told_why_it_cannot_begin(unused_tcp_port: int) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with bridged(f"http://127.0.0.1:{unused_tcp_port}/mcp", "key", "legacy"):
            pass
    assert "cannot be reached" in str(caught.value.exceptions[0])


async def test_the_bridge_says_that_the_url_is_no_mcp_endpoint(
    socket_site: str, admin_key: str
) -> None:
    assert "should end in /mcp" in await why_not(f"{socket_site}/elsewhere", admin_key)


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (200, "Content-Type: text/html", "<p>Hello", r"answered 200 text/html, so .* end in /mcp"),
        (405, "Allow: GET", "no", r"answered 405 without a content type, so .* end in /mcp"),
        (404, "Content-Type: application/json", "{}", r"answered 404 application/json, so "),
        (200, "Content-Type: application/json", "{}", r"answered 200 application/json, so "),
        (502, "Content-Type: text/html", "<p>Bad", r"answered 502 text/html\. Try again later"),
        (
            301,
            "Location: http://example.com/",
            "",
            r"answered 301 .*, a redirect\. Use the address",
        ),
    ],
)
async def test_the_bridge_says_what_answered_when_it_does_not_speak_mcp(
    status: int, headers: str, body: str, words: str
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status} X\r\n{headers}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
        said = await why_not(url, None)
    assert re.search(f"at {url} did not serve this: it {words}", said)


async def test_the_bridge_to_the_root_of_a_gateway_says_where_its_tools_are(
    socket_site: str, admin_key: str
) -> None:
    assert "should end in /mcp" in await why_not(socket_site, admin_key)
