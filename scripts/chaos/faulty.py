"""An upstream that fails on demand, on plain sockets, without code of the gateway."""

import asyncio
import contextlib
import gzip
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Final

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes the reply to one request."""

_LATE_SECONDS: Final = 60.0
"""Longer than the time limit of any attempt."""
_DRIP_SECONDS: Final = 0.5
_BOMB: Final = gzip.compress(b"[" + b" " * (64 * 2**20) + b"]")
"""64 MiB of JSON in 64 KiB."""


def _head(status: str, length: int, *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, *more, "", ""]).encode()


def _whole(status: str, body: bytes = b"{}", *more: str) -> Reply:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, len(body), *more) + body)

    return write


async def _hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(_LATE_SECONDS)
    await HEALTHY(writer)


async def _reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def _truncate(writer: asyncio.StreamWriter) -> None:
    writer.write(_head("200 OK", 1000) + b'{"data": [')
    await writer.drain()
    writer.close()


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(_head("200 OK", 10_000))
    while not writer.is_closing():
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(_DRIP_SECONDS)


HEALTHY: Final = _whole("200 OK", b'{"data": []}')
_TOKEN: Final = _whole(
    "200 OK", b'{"access_token": "token", "token_type": "Bearer", "expires_in": 3600}'
)
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
FAULTS: Final[Mapping[str, Reply]] = {
    "latency": _hang,
    "429": _whole("429 Too Many Requests", b"{}", "Retry-After: 1"),
    "503": _whole("503 Service Unavailable"),
    "reset": _reset,
    "truncated": _truncate,
    "drip": _drip,
    "garbage": _whole("200 OK", b'{"data": [\x00\xff'),
    "redirect": _whole("302 Found", b"{}", "Location: http://169.254.169.254/"),
    "bomb": _whole("200 OK", _BOMB, "Content-Encoding: gzip"),
}


class FaultyServer:
    """Answers each request with `fault`, at the probability `share`, and otherwise healthily."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.fault: Reply = HEALTHY
        self.share = 1.0
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection. Those with a body ask for an access token."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                if length := _LENGTH.search(head):
                    await reader.readexactly(int(length[1]))
                    await _TOKEN(writer)
                    continue
                self.requests += 1
                is_faulty = self._random.random() < self.share
                await (self.fault if is_faulty else HEALTHY)(writer)
                if not writer.is_closing():
                    await writer.drain()
        writer.close()


@asynccontextmanager
async def faulty_server(random: Random) -> AsyncIterator[tuple[str, FaultyServer]]:
    """A healthy upstream and its URL. It ends with the block, and so do its connections."""
    upstream = FaultyServer(random)
    connections: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            connections.add(task)
            task.add_done_callback(connections.discard)
        # The streams of asyncio report a cancelled task as an error.
        with contextlib.suppress(asyncio.CancelledError):
            await upstream.serve(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", upstream
    finally:
        server.close()
        for each in connections:
            each.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
