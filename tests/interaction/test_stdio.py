"""MCP over standard streams, in its own process, and the bridge to a gateway elsewhere."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from tests.bridged import bridged

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


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_stdio_declares_what_it_does(program: StdioServerParameters, mode: str) -> None:
    """The program has tools only."""
    async with Client(program, mode=mode) as client:
        declared = client.server_capabilities.model_dump(exclude_none=True, by_alias=True)
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


async def test_a_line_that_is_too_long_is_refused_and_the_next_ones_served(
    program: StdioServerParameters,
) -> None:
    """The program allows 65536 bytes."""
    fitting = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
    process = await asyncio.create_subprocess_exec(
        program.command,
        *program.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    text = b"\n".join([fitting.ljust(65537), b"x" * 3_000_000, fitting.ljust(65536)])
    out, _ = await process.communicate(text)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [None, None, 7]
    for answer in answers[:2]:
        assert answer["error"]["code"] == -32600
        assert answer["error"]["data"]["status"] == 413
        assert answer["error"]["data"]["detail"] == "The message is larger than 65536 bytes."


async def test_what_handlers_print_never_reaches_the_wire(program: StdioServerParameters) -> None:
    """Not even at the end of the process, when buffers are written out."""
    call = {"name": "example_greet", "arguments": {"name": "Ada"}}
    envelope = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = call | {"_meta": envelope}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    process = await asyncio.create_subprocess_exec(
        program.command,
        *program.args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONUNBUFFERED": ""},
    )
    out, err = await process.communicate(json.dumps(request).encode())
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert b"printed by a handler" in err


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
