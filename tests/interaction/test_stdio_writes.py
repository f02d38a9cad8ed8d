"""A write that has begun over stdio goes on to its end, though its host cancels it."""

import asyncio
import gc
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import Client

from gateway.contract.operation import Effect
from gateway.transports.stdio.server import run_on_stdio
from tests.interaction.conftest import Handlers
from tests.interaction.local import serve_locally
from tests.standard_streams import Pipes, host, on_pipes

MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "example_greet", "arguments": {"name": "Ada"}, "_meta": ENVELOPE},
}
CANCELLED = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
PING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": ENVELOPE}}


@pytest.fixture
def effect() -> Effect:
    return Effect.WRITE


@pytest.fixture(autouse=True)
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool of the greeter writes until it is released."""
    monkeypatch.setattr(Handlers, "greet", Handlers.wait)


@asynccontextmanager
async def cancelled(site: Any) -> AsyncIterator[Pipes]:
    """The server, after it has read a call that writes and then its cancellation."""
    async with on_pipes(serve_locally(site)) as pipes:
        await pipes.send(json.dumps(CALL).encode())
        await site.handlers.entered.wait()
        await pipes.send(json.dumps(CANCELLED).encode(), json.dumps(PING).encode())
        # What was sent later is answered: the cancellation has been read.
        assert json.loads(await pipes.reader.readline())["id"] == 2
        yield pipes


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_write_that_the_sdks_client_cancels_ends(site: Any, mode: str) -> None:
    async with Client(host(serve_locally(site)), mode=mode) as client:
        async with anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "example_greet", {"name": "Ada"})
            await site.handlers.entered.wait()
            calls.cancel_scope.cancel()
        assert len((await client.list_tools()).tools) == 1
        assert not site.handlers.cancelled
        site.handlers.release.set()
    assert [each.outcome for each in await site.records()][-1] == "ok"


async def test_the_end_of_the_input_waits_for_it(site: Any) -> None:
    async with cancelled(site) as pipes:
        pipes.close()
        for _ in range(20):
            await asyncio.sleep(0)
        assert not pipes.serving.done()
        site.handlers.release.set()
        await pipes.serving

    assert not site.handlers.cancelled
    assert [each.outcome for each in await site.records()][-1] == "ok"


async def test_a_server_that_is_stopped_does_not_wait_for_it(site: Any) -> None:
    """tests/functional/interaction shows it of a process."""
    async with cancelled(site) as pipes:
        pipes.serving.cancel()
        await asyncio.gather(pipes.serving, return_exceptions=True)

    assert site.handlers.cancelled


class _Slow:
    """A server that takes a moment to stop, in which a message of its host arrives."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.stopping = asyncio.Event()

    def create_initialization_options(self) -> None:
        return None

    async def run(self, _incoming: object, outgoing: Any, _options: object) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopping.set()
            await asyncio.sleep(0.01)
            await outgoing.aclose()

    async def lines(self, _max_bytes: int) -> AsyncIterator[bytes]:
        await self.stopping.wait()
        yield json.dumps(CANCELLED).encode() + b"\n"

    def output(self) -> Any:
        return anyio.wrap_file(io.StringIO())


async def test_a_message_that_comes_while_the_server_stops_is_no_error() -> None:
    server = _Slow()
    running = asyncio.create_task(run_on_stdio(server, 1000, pipes=server))
    await server.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # What was not closed is a warning, and so an error.
    gc.collect()
