"""A server on the standard streams of the process of the test, which are pipes meanwhile."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import pytest
from mcp.server.stdio import stdio_server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from gateway.transports.stdio import server as stdio
from gateway.transports.stdio import streams

_LINE_BYTES = 2**24


class _NotedOs:
    """`os`, whose copies of standard input and output are closed at the end.

    The gateway keeps them until its process ends.
    """

    def __init__(self) -> None:
        self.made: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def dup(self, number: int) -> int:
        copy = os.dup(number)
        if number in (0, 1):
            self.made.append(copy)
        return copy


class Pipes:
    """The host's ends of the pipes of a server that runs."""

    def __init__(
        self,
        serving: asyncio.Task[None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.serving = serving
        self.reader = reader
        self.writer = writer

    async def send(self, *lines: bytes) -> None:
        self.writer.writelines(line + b"\n" for line in lines)
        await self.writer.drain()

    def close(self) -> None:
        """End the input of the server."""
        self.writer.close()


@asynccontextmanager
async def on_pipes(server: Coroutine[Any, Any, None]) -> AsyncIterator[Pipes]:
    """Run `server` on standard input and output."""
    loop = asyncio.get_running_loop()
    with _standard_pipes() as (to_server, from_server):
        serving = asyncio.create_task(server)
        reader = asyncio.StreamReader(_LINE_BYTES)
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(from_server, "rb")
        )
        writing, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
            os.fdopen(to_server, "wb"),
        )
        writer = asyncio.StreamWriter(writing, protocol, None, loop)
        try:
            yield Pipes(serving, reader, writer)
        finally:
            writer.close()
            await asyncio.gather(serving, return_exceptions=True)
            reading.close()


@asynccontextmanager
async def _closed_at_its_end(**ends: Any) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's transport. A process that ends leaves its incoming stream as it is."""
    async with stdio_server(**ends) as (incoming, outgoing), incoming:
        yield incoming, outgoing


@contextmanager
def _standard_pipes() -> Iterator[tuple[int, int]]:
    """The ends of two pipes whose others are standard input and output."""
    kept = os.dup(0), os.dup(1)
    (read, to_server), (from_server, write) = os.pipe(), os.pipe()
    noted = _NotedOs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "os", noted)
        patch.setattr(stdio, "stdio_server", _closed_at_its_end)
        for number, end in enumerate((read, write)):
            os.dup2(end, number)
            os.close(end)
        try:
            yield to_server, from_server
        finally:
            for number, own in enumerate(kept):
                os.dup2(own, number)
                os.close(own)
            for copy in noted.made:
                os.close(copy)


@asynccontextmanager
async def host(server: Coroutine[Any, Any, None]) -> AsyncIterator[tuple[Any, Any]]:
    """The two streams of a transport of the SDK, with `server` at the other ends of its pipes."""
    async with (
        create_client_server_memory_streams() as (client, (incoming, outgoing)),
        on_pipes(server) as pipes,
    ):

        async def write() -> None:
            async for item in incoming:
                message = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await pipes.send(message.encode())

        async def read() -> None:
            # The client may have gone.
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in pipes.reader:
                    message = jsonrpc_message_adapter.validate_json(line)
                    await outgoing.send(SessionMessage(message))

        tasks = [asyncio.create_task(each()) for each in (write, read)]
        try:
            yield client
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
