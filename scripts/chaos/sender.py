"""A sender of webhooks that shares no code with the gateway, and logs the responses.

Each message is sent until there is a definite response. The statuses in `UNDECIDED`, and no
response, are not definite. The log has two lines of JSON for each request: one at its start, with
the message's id and the SHA-256 of its body, and one with its status, which is null if there was no
response.
"""

import asyncio
import hashlib
import hmac
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import IO, Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

UNDECIDED: Final = frozenset({429, 503, None})
"""Statuses after which the same message is sent again."""
_ANSWER_SECONDS: Final = 10.0
_REST_SECONDS: Final = 0.05
_LARGEST_ANSWER: Final = 1 << 20


class Message(Struct, frozen=True):
    """A message. Repeated requests have the same bytes."""

    id: str
    body: bytes


def quote(message_id: str) -> Message:
    """A unique message about an operator's quote."""
    body = {
        "event_type": "quote_received",
        "event_id": message_id,
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "quote_id": f"q-{message_id}",
        "rfp_id": f"r-{message_id}",
        "thread_id": f"t-{message_id}",
        "operator": {
            "id": f"op-{zlib.crc32(message_id.encode()) % 50}",
            "name": "Executive Jet Management",
        },
        "aircraft": {"type": "Citation X"},
        "price": {"total": 48200, "currency": "USD"},
    }
    return Message(message_id, json.dumps(body).encode())


def signed(message: Message, secret: bytes, path: str) -> bytes:
    """The request, signed with the current time."""
    at = str(int(time.time())).encode()
    signature = hmac.new(secret, at + b"." + message.body, hashlib.sha256).hexdigest().encode()
    return (
        b"POST " + path.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nX-Avinode-Timestamp: " + at + b"\r\n"
        b"X-Avinode-Signature: sha256=" + signature + b"\r\n"
        b"Content-Length: " + str(len(message.body)).encode() + b"\r\n\r\n" + message.body
    )


class Connection:
    """One connection, which is opened again if it breaks."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> int | None:
        """The status of the response; None if there was none or it is unknown."""
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await self._ask(request)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            self.close()
            return None

    async def _ask(self, request: bytes) -> int:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address, limit=_LARGEST_ANSWER)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(fields.get("content-length", "0")))
        if fields.get("connection") == "close":
            self.close()
        return int(head.split(" ", 2)[1])

    def close(self) -> None:
        """Close it, if it is open."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Sender:
    """Sends messages, several at the same time, and logs the outcome of each request."""

    def __init__(self, url: str, secret: str, log: IO[str], connections: int = 32) -> None:
        self._url = url
        self._path = "/webhooks/avinode"
        self._secret = secret.encode()
        self._log = log
        self._connections = connections
        self.queue: asyncio.Queue[Message] = asyncio.Queue()
        """The messages to send."""
        self.sent = 0
        """The number of messages with a definite response."""
        self.undecided = 0
        """The number of requests without a definite response."""

    @property
    def waiting(self) -> int:
        """The number of messages that wait to be sent."""
        return self.queue.qsize()

    async def send(self, message: Message) -> int:
        """Send `message` until the response is definite. Returns the last status."""
        connection = Connection(self._url)
        try:
            return await self._deliver(connection, message)
        finally:
            connection.close()

    def put(self, message: Message) -> None:
        """Queue `message` for the next free connection."""
        self.queue.put_nowait(message)

    async def work(self) -> None:
        """Send queued messages, on several connections, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._connections):
                group.create_task(self.work_alone())

    async def settled(self) -> None:
        """Wait until all queued messages have a definite response."""
        await self.queue.join()

    async def work_alone(self) -> None:
        """Send queued messages, on one connection, until cancelled."""
        connection = Connection(self._url)
        while True:
            message = await self.queue.get()
            await self._deliver(connection, message)
            self.queue.task_done()

    async def _deliver(self, connection: Connection, message: Message) -> int:
        while True:
            self._note(message, {"begun": True})
            status = await connection.ask(signed(message, self._secret, self._path))
            self._note(message, {"status": status})
            if status is not None and status not in UNDECIDED:
                self.sent += 1
                return status
            self.undecided += 1
            await asyncio.sleep(_REST_SECONDS)

    def _note(self, message: Message, what: Mapping[str, Any]) -> None:
        line: dict[str, Any] = {
            "id": message.id,
            "sha256": hashlib.sha256(message.body).hexdigest(),
            **what,
            "at": time.time(),
        }
        # Flushed, because the checker may read the log while requests are running.
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()


@asynccontextmanager
async def sending(
    sender: Sender, rate: float, random: Random, name: Callable[[int], str]
) -> AsyncIterator[None]:
    """Send `rate` new messages per second during a block, and one in twenty twice.

    At the end, all messages have a definite response. Raises `TimeoutError` after a minute.
    """
    working = asyncio.create_task(sender.work())
    pacing = asyncio.create_task(_pace(sender, rate, random, name))
    try:
        yield
        pacing.cancel()
        async with asyncio.timeout(60):
            await sender.settled()
    finally:
        pacing.cancel()
        working.cancel()
        await asyncio.gather(pacing, working, return_exceptions=True)


async def _pace(sender: Sender, rate: float, random: Random, name: Callable[[int], str]) -> None:
    loop = asyncio.get_running_loop()
    due, number = loop.time(), 0
    while True:
        if sender.waiting > rate:
            # One second behind: messages for a stopped gateway need not accumulate.
            await asyncio.sleep(_REST_SECONDS)
            due = loop.time()
            continue
        message = quote(name(number))
        sender.put(message)
        if random.random() < 0.05:
            loop.call_later(random.uniform(0, 0.2), sender.put, message)
        number += 1
        due += 1 / rate
        if (wait := due - loop.time()) > 0:
            await asyncio.sleep(wait)


def opened(path: Path) -> IO[str]:
    """Open a log for writing."""
    return path.open("a", encoding="utf-8")
