"""A subscriber's endpoint that shares no code with the gateway, and sometimes fails.

It checks the signatures itself (Standard Webhooks 1.0.0), answers some deliveries late and some
with 500, and logs each: its id, the SHA-256 of its body, whether it was authentic, and the
response.
"""

import asyncio
import base64
import hashlib
import hmac
import http.client
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import IO, Any
from urllib.parse import urlsplit

from gateways import KEY, ChaosError
from msgspec import Struct


class FaultRates(Struct, frozen=True):
    """The shares of deliveries that fail or are answered late."""

    failing: float = 0.0
    late: float = 0.0
    late_seconds: float = 0.5


class Receiver:
    """Receives deliveries."""

    def __init__(self, log: IO[str], random: Random, fault_rates: FaultRates) -> None:
        self.secret = ""
        """The secret that the gateway returned when the endpoint was added."""
        self.url = ""
        self._log = log
        self._random = random
        self.fault_rates = fault_rates

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                lines = (line.partition(":") for line in head.split("\r\n")[1:] if line)
                fields = {name.lower(): value.strip() for name, _, value in lines}
                body = await reader.readexactly(int(fields.get("content-length", "0")))
                status = await self._answer()
                self._note(fields, body, status)
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
                await writer.drain()
        writer.close()

    async def _answer(self) -> int:
        if self._random.random() < self.fault_rates.late:
            await asyncio.sleep(self.fault_rates.late_seconds)
        return 500 if self._random.random() < self.fault_rates.failing else 204

    def _note(self, fields: Mapping[str, str], body: bytes, status: int) -> None:
        line = {
            "id": fields.get("webhook-id", ""),
            "sha256": hashlib.sha256(body).hexdigest(),
            "is_authentic": self._is_authentic(fields, body),
            "status": status,
        }
        self._log.write(json.dumps(line) + "\n")
        self._log.flush()

    def _is_authentic(self, fields: Mapping[str, str], body: bytes) -> bool:
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        head = f"{fields.get('webhook-id')}.{fields.get('webhook-timestamp')}.".encode()
        expected = base64.b64encode(hmac.new(key, head + body, hashlib.sha256).digest()).decode()
        return f"v1,{expected}" in fields.get("webhook-signature", "").split(" ")


@asynccontextmanager
async def receiving(path: Path, random: Random, fault_rates: FaultRates) -> AsyncIterator[Receiver]:
    """An endpoint for the duration of a block."""
    with path.open("a", encoding="utf-8") as log:
        receiver = Receiver(log, random, fault_rates)
        server = await asyncio.start_server(receiver.take, "127.0.0.1", 0)
        receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        try:
            yield receiver
        finally:
            server.close()


async def subscribe(gateway: str, receiver: Receiver) -> None:
    """Subscribe the receiver to all events of the gateway at this URL. Raises `ChaosError`."""
    added = await asyncio.to_thread(ask, gateway, "POST", "/operator/endpoints", receiver.url)
    receiver.secret = added["secret"]


def ask(gateway: str, method: str, path: str, target: str | None = None) -> dict[str, Any]:
    """The gateway's response to its administrator. Raises `ChaosError`."""
    connection = http.client.HTTPConnection(urlsplit(gateway).netloc, timeout=10)
    body = None if target is None else json.dumps({"url": target})
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    if answer.status >= 300:
        raise ChaosError(f"{method} {path} was answered {answer.status}: {text[:300]!r}")
    answered: dict[str, Any] = json.loads(text)
    return answered
