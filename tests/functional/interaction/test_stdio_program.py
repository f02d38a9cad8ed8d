"""MCP over the standard streams of a process of its own, as a host starts it."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.eventually import eventually

MODERN = "2026-07-28"
PROGRAM = str(Path(__file__).with_name("stdio_program.py"))
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
PIPE = asyncio.subprocess.PIPE


def call(**arguments: Any) -> bytes:
    """A line that calls the tool that greets."""
    params = {"name": "example_greet", "arguments": arguments, "_meta": ENVELOPE}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(request).encode() + b"\n"


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_client_starts_it_and_calls(mode: str) -> None:
    """The handler and a child of it print to standard output, which must not reach the wire."""
    program = StdioServerParameters(command=sys.executable, args=[PROGRAM])
    async with Client(program, mode=mode) as client:
        result = await client.call_tool("example_greet", {"name": "Ada"})
    assert result.structured_content["greeting"] == "Hello Ada"


async def test_what_handlers_print_never_reaches_the_wire() -> None:
    """Not even at the end of the process, when buffers are written out."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM, stdin=PIPE, stdout=PIPE, stderr=PIPE, env={"PYTHONUNBUFFERED": ""}
    )
    out, err = await process.communicate(call(name="Ada"))
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert b"printed by a handler" in err
    assert process.returncode == 0


async def test_a_process_that_is_stopped_does_not_wait_for_a_cancelled_write(
    tmp_path: Path,
) -> None:
    """tests/interaction/test_stdio_writes.py has the cancellation."""
    file = tmp_path / "written"

    def state() -> str | None:
        return file.read_text() or None if file.exists() else None

    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM, "--writes", stdin=PIPE, stdout=PIPE
    )
    assert process.stdin is not None
    process.stdin.write(call(name=str(file)))
    assert await eventually(lambda: asyncio.to_thread(state)) == "begun"
    cancelled = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }
    process.stdin.write(json.dumps(cancelled).encode() + b"\n")
    process.terminate()
    await process.wait()

    assert (process.returncode, state()) == (0, "cut off")
