"""A write that has begun over stdio goes on to its end, though its host cancels it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.eventually import eventually

MODERN = "2026-07-28"
PROGRAM = [str(Path(__file__).with_name("stdio_program.py")), "--writes"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}


def call(file: Path, times: int) -> dict[str, Any]:
    arguments = {"name": str(file), "times": times}
    params = {"name": "example_greet", "arguments": arguments, "_meta": ENVELOPE}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def state(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


def result(file: Path) -> str | None:
    """How the write ended, None while it runs."""
    found = state(file)
    return None if found == "begun" else found


@asynccontextmanager
async def cancelled(file: Path, times: int = 1) -> AsyncIterator[asyncio.subprocess.Process]:
    """The server, after it was sent a call that writes to `file` and then its cancellation."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, *PROGRAM, stdin=pipe, stdout=pipe
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(call(file, times)).encode() + b"\n")
    await eventually(lambda: asyncio.to_thread(state, file))
    process.stdin.write(json.dumps(CANCELLED).encode() + b"\n")
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_write_that_the_sdks_client_cancels_ends(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "written"
    program = StdioServerParameters(command=sys.executable, args=PROGRAM)
    async with Client(program, mode=mode) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "example_greet", {"name": str(file)})
            await eventually(lambda: asyncio.to_thread(state, file))
            calls.cancel_scope.cancel()
        assert len((await client.list_tools()).tools) == 1
        assert await eventually(lambda: asyncio.to_thread(result, file)) == "ended"


async def test_the_end_of_the_input_waits_for_it(tmp_path: Path) -> None:
    file = tmp_path / "written"
    async with cancelled(file) as process:
        out, _ = await process.communicate(b"")

    assert (process.returncode, state(file), out) == (0, "ended", b"")


async def test_a_process_that_is_stopped_does_not_wait_for_it(tmp_path: Path) -> None:
    file = tmp_path / "written"
    async with cancelled(file, times=9) as process:
        process.terminate()
        await asyncio.wait_for(process.wait(), 5)

    assert (process.returncode, state(file)) == (0, "cut off")
