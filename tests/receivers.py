"""Subscribers on real sockets, honest ones and others, and how they check what they get."""

import asyncio
import base64
import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct


class Received(Struct, frozen=True):
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


async def arrived(got: list[Received], count: int = 1) -> None:
    """Wait until so many requests have come."""
    while len(got) < count:  # noqa: ASYNC110 - the list is also looked at by those who do not wait
        await asyncio.sleep(0.001)


Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


def answer(status: int = 204, fields: str = "", body: bytes = b"") -> Behaviour:
    """Answers each request so; `fields` are header lines, each ended by CRLF."""

    async def _answer(_request: Received, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{fields}\r\n"
        writer.write(head.encode() + body)
        await writer.drain()

    return _answer


@asynccontextmanager
async def receiver(
    behave: Behaviour | None = None, *, host: str = "127.0.0.1", port: int = 0, tls: object = None
) -> AsyncIterator[tuple[int, list[Received]]]:
    """The port on which a subscriber listens, and what it has got so far."""
    got: list[Received] = []
    behaviour = behave or answer()

    async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await _read(reader)
                got.append(request)
                await behaviour(request, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the other side has had enough, or the test
        finally:
            writer.close()

    server = await asyncio.start_server(_serve, host, port, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], got
    finally:
        server.close()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        assert name.lower() not in headers, f"{name} occurs twice"
        headers[name.lower()] = value.strip()
    method, target, _version = first.split(" ")
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, target, headers, body)


def is_signed(request: Received, secret: str, now: float | None = None) -> bool:
    """What a subscriber does who has read the specification of Standard Webhooks, and no code.

    https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    """
    prefix, _, text = secret.partition("_")
    assert prefix == "whsec"
    key = base64.b64decode(text, validate=True)
    assert 24 <= len(key) <= 64
    message_id = request.headers["webhook-id"]
    timestamp = request.headers["webhook-timestamp"]
    assert "." not in message_id
    if abs((time.time() if now is None else now) - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + request.body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    versions = [each.split(",", 1) for each in request.headers["webhook-signature"].split(" ")]
    return ["v1", expected] in versions
