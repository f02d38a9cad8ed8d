"""Clients of a trial of attacks: they send bytes from any loopback address, and read answers."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit

from msgspec import Struct, field
from soak_load import request

_SECONDS: Final = 30.0
_LARGEST: Final = 1 << 24
IDLE_SECONDS: Final = 2.0
"""After this time a connection is not used again: the gateway may be about to close it."""


class Answer(Struct, frozen=True):
    """The answer to a request."""

    status: int
    head: str
    body: bytes

    @property
    def values(self) -> Any:
        """The body, decoded; an empty object if it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


class Line:
    """One connection from `address`, which is opened again when it breaks or was idle."""

    def __init__(self, url: str, address: str) -> None:
        parts = urlsplit(url)
        self._to = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._from = address
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def ask(self, text: bytes, seconds: float = _SECONDS) -> Answer:
        """Raises `OSError`, `EOFError` or `TimeoutError` if there is no whole answer."""
        if time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(text)
        except BaseException:
            self.close()
            raise
        finally:
            self._used = time.monotonic()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Its streams, connected."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(
                *self._to, local_addr=(self._from, 0), limit=_LARGEST
            )
        return self._streams

    async def _ask(self, text: bytes) -> Answer:
        reader, writer = await self.open()
        writer.write(text)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        if "content-length" in fields or head[9:12] == "204":
            body = await reader.readexactly(int(fields.get("content-length", "0")))
        else:
            body = await reader.read(_LARGEST)
            self.close()
        if fields.get("connection") == "close":
            self.close()
        return Answer(int(head[9:12]), head, body)

    def close(self) -> None:
        """Close it, if it is open."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Target(Struct, kw_only=True):
    """The gateway that is attacked, and what the attackers know and have found."""

    url: str
    folder: Path
    """The project that it serves."""
    process: int
    keys: dict[str, str]
    """By agent."""
    answers: Counter[str] = field(default_factory=Counter)
    """Of the attackers, by status, or by `no answer`."""
    findings: list[str] = field(default_factory=list)
    """What an attacker got, and must not get."""

    def find(self, what: str) -> None:
        """Note it once."""
        if what not in self.findings:
            self.findings.append(what)

    async def call(
        self, line: Line, path: str, body: Any, *, agent: str = "hostile", **more: str
    ) -> Answer | None:
        """POST to `path` with the key of `agent`. None: no answer."""
        return await self.ask(line, request("POST", path, body, **self.key(agent), **more))

    async def get(self, line: Line, path: str, agent: str = "hostile") -> Answer | None:
        """GET `path` with the key of `agent`. None: no answer."""
        return await self.ask(line, request("GET", path, **self.key(agent)))

    async def ask(self, line: Line, text: bytes) -> Answer | None:
        """Send a request, and count its answer."""
        try:
            answer = await line.ask(text)
        except (OSError, EOFError, TimeoutError, ValueError):
            self.answers["no answer"] += 1
            return None
        self.answers[str(answer.status)] += 1
        return answer

    def key(self, agent: str) -> dict[str, str]:
        """The header with the key of `agent`."""
        return {"Authorization": f"Bearer {self.keys[agent]}"}

    @contextlib.asynccontextmanager
    async def line(self, address: str) -> AsyncIterator[Line]:
        """A connection from `address`, which ends with the block."""
        line = Line(self.url, address)
        try:
            yield line
        finally:
            line.close()

    async def hold(self, address: str, text: bytes) -> None:
        """Send `text`, read nothing, and keep the connection until it is cancelled."""
        async with self.line(address) as line:
            try:
                _, writer = await line.open()
                cast("asyncio.Transport", writer.transport).pause_reading()
                writer.write(text)
                self.answers["held"] += 1
                await writer.drain()
                await asyncio.sleep(_SECONDS)
            except OSError:
                self.answers["no answer"] += 1
                await asyncio.sleep(0.1)


async def crowd(size: int, work: Callable[[int], Awaitable[object]]) -> None:
    """So many at once, each again and again."""

    async def again(number: int) -> None:
        while True:
            await work(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for number in range(size):
            group.create_task(again(number))


def address_of(number: int) -> str:
    """One of 20 addresses of attackers."""
    return f"127.0.1.{number % 20 + 1}"
