"""A client of Server-Sent Events that shows every field, and can be made to stop reading."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct


class Block(Struct):
    """What stands between two empty lines; `fields` in order, a comment under the name ""."""

    fields: list[tuple[str, str]]

    def get(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key == name), None)

    @property
    def data(self) -> Any:
        return json.loads(self.get("data") or "null")


class EventClient:
    """One GET over its own socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self._writer = reader, writer
        self.status = 0
        self.headers: dict[str, str] = {}
        self._rest = b""

    @classmethod
    async def open(
        cls, url: str, query: str = "", *, key: str, method: str = "GET", **headers: str
    ) -> "EventClient":
        port = int(url.rpartition(":")[2])
        client = cls(*await asyncio.open_connection("127.0.0.1", port))
        fields = {"host": "gateway.test", "authorization": f"Bearer {key}", **headers}
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()]
        head = f"{method} /events{query} HTTP/1.1\r\n{''.join(lines)}\r\n"
        client._writer.write(head.encode())
        try:
            await client._read_head()
        except BaseException:
            client.abort()
            raise
        return client

    async def _read_head(self) -> None:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.split("\r\n")
        self.status = int(first.split(" ")[1])
        pairs = (line.split(": ", 1) for line in lines if line)
        self.headers = {name.lower(): value for name, value in pairs}

    async def blocks(self) -> AsyncIterator[Block]:
        """Until the server ends the stream."""
        async for chunk in self._chunks():
            self._rest += chunk
            *whole, self._rest = self._rest.split(b"\n\n")
            for text in whole:
                pairs = (line.partition(": ") for line in text.decode().split("\n"))
                yield Block([(name, value) for name, _, value in pairs])

    async def take(self, count: int) -> list[Block]:
        """The next blocks that bear data."""
        found: list[Block] = []
        async for block in self.blocks():
            if block.get("data") is not None:
                found.append(block)
            if len(found) == count:
                break
        return found

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)

    def close(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        self._writer.transport.abort()
