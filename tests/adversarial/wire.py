"""Raw requests over sockets, as no HTTP library would send them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from tests.eventually import PATIENCE_SECONDS

HOST = b"host: gateway.test\r\n"


class Answer(Struct, frozen=True):
    """One answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire(Struct, frozen=True):
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send `data` as it is."""
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> Answer:
        """The next answer. Raises `IncompleteReadError` when there is none."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            head = await self.reader.readuntil(b"\r\n\r\n")
            line, *lines = head.decode("latin-1").rstrip().split("\r\n")
            fields = (each.partition(": ") for each in lines)
            headers = {name.lower(): value for name, _, value in fields}
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return Answer(int(line.split(" ")[1]), headers, body)

    async def is_closed(self) -> bool:
        """Wait for the end; whether nothing came before it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.reader.read() == b""


@asynccontextmanager
async def connected(url: str, address: str = "127.0.0.1") -> AsyncIterator[Wire]:
    """A connection from `address` to the server at `url`."""
    port = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
