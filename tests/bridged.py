"""A client behind the bridge, in the process of the test: streams in place of pipes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from mcp import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from gateway.transports.bridge.remote import Remote
from gateway.transports.bridge.serving import ANSWER_SECONDS, Relay


@asynccontextmanager
async def pipes(
    url: str, key: str | None, answer_seconds: float = ANSWER_SECONDS
) -> AsyncIterator[tuple[Any, Any]]:
    """The two streams of a transport of the SDK, with the bridge to `url` at their other ends."""
    async with (
        create_client_server_memory_streams() as (client, (incoming, outgoing)),
        Remote(url, key) as remote,
    ):

        async def lines() -> AsyncIterator[bytes]:
            async for item in incoming:
                assert isinstance(item, SessionMessage)
                yield item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()

        async def write(line: bytes) -> None:
            assert line.count(b"\n") == 1
            message = jsonrpc_message_adapter.validate_json(line)
            # The client may have gone.
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await outgoing.send(SessionMessage(message))

        relaying = asyncio.create_task(Relay(remote, write, answer_seconds).run(lines()))
        try:
            yield client
        finally:
            relaying.cancel()
            await asyncio.gather(relaying, return_exceptions=True)


@asynccontextmanager
async def bridged(
    url: str,
    key: str | None,
    mode: str = "2026-07-28",
    answer_seconds: float = ANSWER_SECONDS,
    **options: Any,
) -> AsyncIterator[Client]:
    """A client of the gateway at `url`, whose messages go over the bridge."""
    async with Client(pipes(url, key, answer_seconds), mode=mode, cache=None, **options) as client:
        yield client
