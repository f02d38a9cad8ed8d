#!/usr/bin/env python3
"""Processor time of one HTTP exchange with an upstream: the gateway's client beside aiohttp's.

Both send the same request, one after the other, over one kept connection to a server in its own
process, and read the same reply. The clients take turns; each figure is the least of its rounds,
since other work on the machine can only add to it. Example: python scripts/bench/exchange.py --json
"""

import argparse
import asyncio
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Final, cast

import aiohttp
import uvloop
from machine import description
from yarl import URL

from gateway.backends.http.replies import ReplyLimits
from gateway.backends.http.wire import HttpWire
from gateway.backends.wire import WireRequest

BODY: Final = json.dumps({"data": [{"id": number, "name": "x" * 40} for number in range(80)]})
_HEAD: Final = f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n"
REPLY: Final = f"HTTP/1.1 200 OK\r\n{_HEAD}\r\n{BODY}".encode()
HEADERS: Final = (
    ("Accept", "application/json"),
    ("User-Agent", "contract-gateway"),
    ("Authorization", "Bearer 0123456789abcdef"),
    ("X-Sent", "2026-01-01T00:00:00Z"),
    ("Content-Type", "application/json"),
)
ASKED: Final = b'{"from":"KTEB","to":"KVNY","passengers":4}'
_EXCHANGES: Final = 1000

Exchange = Callable[[], Awaitable[int]]
"""Sends the request, and returns the size of the reply's body."""


class Upstream(asyncio.Protocol):
    """Answers each request with the same reply. A request arrives in one piece."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # what TCP connections have

    def data_received(self, data: bytes) -> None:
        if data.endswith(ASKED):
            self._transport.write(REPLY)


def serve(ready: Connection) -> None:
    """Serve until the process is ended. Sends the port when it is ready."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Upstream, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(run())


async def measure(port: int, rounds: int) -> dict[str, float]:
    """Microseconds of processor time for each exchange, by client."""
    base = f"http://127.0.0.1:{port}"
    wire = HttpWire("bench", base, ReplyLimits(max_bytes=10_000_000))
    request = WireRequest(method="POST", target="/flights", headers=HEADERS, body=ASKED)
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=256),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
    )

    async def ours() -> int:
        return len((await wire.exchange(request)).body)

    async def theirs() -> int:
        url = URL(f"{base}/flights", encoded=True)
        async with session.post(url, data=ASKED, headers=HEADERS, allow_redirects=False) as reply:
            body = await reply.read()
            _ = {name.lower(): value for name, value in reply.headers.items()}
            return len(body)

    clients: dict[str, Exchange] = {"gateway": ours, "aiohttp": theirs}
    figures: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(rounds):
        for name, each in clients.items():
            figures[name].append(await timed(each))
    await wire.close()
    await session.close()
    return {name: round(min(found), 1) for name, found in figures.items()}


async def timed(exchange: Exchange) -> float:
    """Microseconds of processor time for each exchange of one round."""
    began = time.process_time()
    for _ in range(_EXCHANGES):
        if await exchange() != len(BODY):
            raise SystemExit("error: a reply is not whole")
    return (time.process_time() - began) / _EXCHANGES * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    ready, sender = multiprocessing.Pipe(duplex=False)
    upstream = multiprocessing.Process(target=serve, args=(sender,), daemon=True)
    upstream.start()
    found = uvloop.run(measure(ready.recv(), options.rounds))
    upstream.terminate()
    report = description() | {"reply_bytes": len(BODY), "cpu_us_per_exchange": found}
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{report['date']}  {report['machine']}  {report['command']}")
    for name, figure in found.items():
        print(f"{name:8} {figure:6.1f} us of processor time per exchange")


if __name__ == "__main__":
    main()
