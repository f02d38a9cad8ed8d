"""The attacks of hosts without a key: each goes on until it is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Final

from hostile_client import Target, address_of, crowd
from soak_load import request

Kind = Callable[[Target], Awaitable[None]]
_PAGE: Final = b"GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
_BODY: Final = (
    b"POST /webhooks/avinode HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000000\r\n\r\n" + b"x" * 500_000
)


async def unread(target: Target) -> None:
    """Hosts without a key ask for large pages, and read nothing."""
    await crowd(600, lambda number: target.hold(address_of(number % 4), _PAGE * 5))


async def versionless(target: Target) -> None:
    """Request lines of no version of HTTP."""

    async def send(number: int) -> None:
        async with target.line(address_of(number)) as line:
            answer = await target.ask(line, b"GET /healthz\r\nHost: localhost\r\n\r\n")
        if answer and answer.status == 200:
            target.find("versionless: HTTP/0.9 was served")

    await crowd(10, send)


def _strangers(size: int, text: Callable[[int], bytes]) -> Kind:
    """`size` connections of hosts without a key that ask again and again."""

    async def run(target: Target) -> None:
        turns = count()

        async def ask(number: int) -> None:
            async with target.line(address_of(number)) as line:
                await target.ask(line, text(next(turns)))

        await crowd(size, ask)

    return run


def _held(size: int, text: bytes) -> Kind:
    """`size` connections that send this and no more."""

    async def run(target: Target) -> None:
        await crowd(size, lambda number: target.hold(address_of(number), text))

    return run


async def drips(target: Target) -> None:
    """Heads that arrive byte by byte."""

    async def drip(number: int) -> None:
        async with target.line(address_of(number)) as line:
            try:
                _, writer = await line.open()
                for byte in request("GET", "/healthz", X_Filler="x" * 500):
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0.2)
            except OSError:
                pass
            target.answers["ended"] += 1

    target.answers["begun"] += 1
    await crowd(600, drip)


def _wrong_key(turn: int) -> bytes:
    key = f"Bearer gw_{turn % 100:043}"
    return request("POST", "/v1/store/find_products", {"query": "x"}, Authorization=key)


STRANGERS: Final[Mapping[str, Kind]] = {
    "unread": unread,
    "versionless": versionless,
    "connections": _held(1200, b""),
    "slow-heads": drips,
    "half-bodies": _held(400, _BODY),
    "wrong-keys": _strangers(40, _wrong_key),
    "pages": _strangers(40, lambda _: _PAGE),
}
"""By name."""
