"""MCP over pipes of this process, to a gateway that others of its transports serve too.

It is `gateway mcp` but for the file descriptors, so that one case can be sent over it and over HTTP
to the same mocks.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from gateway.app import VERSION, Gateway
from gateway.auth.keys import ADMINISTRATOR
from gateway.testing.transports import SILENT_SECONDS, Exchange, TransportFailed
from gateway.transports.stdio.server import local_server, run_on_stdio

_LARGEST: Final = 2**20
"""As `max_body_bytes` has it by default."""


class InnerPipes:
    """Two queues of lines: to the server, and from it."""

    def __init__(self) -> None:
        self._sent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._written: asyncio.Queue[str] = asyncio.Queue()

    async def lines(self, max_bytes: int) -> AsyncIterator[bytes]:  # noqa: ARG002 - nothing is cut
        """See `Pipes`."""
        while (line := await self._sent.get()) is not None:
            yield line

    def output(self) -> "InnerPipes":
        """See `Pipes`."""
        return self

    async def write(self, text: str) -> None:
        """Keep what the server answers."""
        self._written.put_nowait(text)

    async def flush(self) -> None:
        """Do nothing: `write` has no buffer."""

    def close(self) -> None:
        """No more is sent."""
        self._sent.put_nowait(None)

    async def exchange(self, message: bytes, headers: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 - pipes have none
        """The response to `message`. Notifications before it are left out."""
        self._sent.put_nowait(message)
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                while True:
                    response: dict[str, Any] = json.loads(await self._written.get())
                    if "method" not in response:
                        return response
        except TimeoutError:
            raise TransportFailed(f"no answer over stdio in {SILENT_SECONDS:g} seconds") from None


@asynccontextmanager
async def over_inner_pipes(gateway: Gateway) -> AsyncIterator[Exchange]:
    """`gateway` over stdio, for the administrator, until the block ends."""
    pipes = InnerPipes()

    async def serve() -> None:
        tools = gateway.local_tools(ADMINISTRATOR)
        async with local_server(tools, VERSION, max_message_bytes=_LARGEST) as server:
            await run_on_stdio(server.server, server.largest_bytes, server.shielded, pipes)

    serving = asyncio.create_task(serve())
    try:
        yield pipes.exchange
    finally:
        pipes.close()
        await serving
