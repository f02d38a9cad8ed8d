"""MCP over standard input and output, in both eras, for a host that starts the gateway itself."""

import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from gateway.auth.principal import Credentials
from gateway.transports.asgi import new_request_id
from gateway.transports.mcp.messages import refusal
from gateway.transports.mcp.server import Context, build_server
from gateway.transports.mcp.tools import Caller, Tools


class _Outgoing(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...


async def serve_stdio(tools: Tools, version: str, *, connector: str | None = None) -> None:
    """Serve `tools` until the host closes standard input.

    The caller is whoever started this process: `tools` identifies it without credentials. While
    this runs, whatever the process prints goes to standard error.
    """
    credentials = Credentials()
    principal = await tools.identify(credentials)

    async def caller_of(_: Context) -> Caller:
        return Caller(
            principal=principal,
            credentials=credentials,
            transport="stdio",
            request_id=new_request_id(),
            connector=connector,
        )

    await run_on_stdio(build_server(tools, caller_of, version))


async def run_on_stdio(server: Server[Any]) -> None:
    """Run any MCP server on this process's standard streams until the host closes them."""
    lines = StrictLines(_take_stdin())
    # The SDK diverts fd 1 to standard error and keeps the wire to itself.
    streams: AbstractAsyncContextManager[Any] = stdio_server(
        stdin=lines  # type: ignore[arg-type]  # it iterates over lines, which is all that is used
    )
    async with streams as (incoming, outgoing):
        lines.outgoing = outgoing
        await server.run(incoming, outgoing, server.create_initialization_options())


class StrictLines:
    """The lines of a binary stream that are messages; the others are answered with an error."""

    def __init__(self, stream: anyio.AsyncFile[bytes]) -> None:
        self._stream = stream
        self.outgoing: _Outgoing | None = None
        """Where refusals go."""

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._stream:
            if not line.strip():
                continue
            error = refusal(line, new_request_id())
            if error is None:
                yield line.decode()
            elif self.outgoing is not None:
                refused = JSONRPCError(jsonrpc="2.0", id=None, error=error)
                await self.outgoing.send(SessionMessage(refused))


def _take_stdin() -> anyio.AsyncFile[bytes]:
    """Standard input for us alone: handlers and child processes read an empty one instead."""
    wire = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return anyio.wrap_file(os.fdopen(wire, "rb"))
