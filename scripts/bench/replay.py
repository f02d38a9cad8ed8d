"""The upstream of the benchmark: it replays the mock upstream's replies at full speed.

The first request of each kind is forwarded to the origin (`gateway mock`, which replies by the
upstream's contract); later ones get the same reply from memory. So all contenders have the same
upstream, and it is never the bottleneck. `GET /recorded` returns the exchanges so far.
"""

import argparse
import asyncio
import http.client
import socket
from typing import cast
from urllib.parse import urlsplit

import msgspec
import uvloop
from httptools import HttpRequestParser
from msgspec import Struct

HOP_BY_HOP = {"connection", "content-length", "host", "transfer-encoding", "keep-alive"}


class Exchange(Struct, frozen=True):
    """A received request, and the body of its reply."""

    method: str
    target: str
    request: bytes
    status: int
    answer: bytes


class Memory:
    """Every exchange so far, by its request."""

    def __init__(self, origin: str) -> None:
        self._origin = urlsplit(origin)
        self._answers: dict[tuple[bytes, bytes, bytes], bytes] = {}
        self._exchanges: list[Exchange] = []

    def answer(self, key: tuple[bytes, bytes, bytes], headers: list[tuple[bytes, bytes]]) -> bytes:
        """The complete HTTP response to `key`: method, target and body."""
        if key[1] == b"/recorded":
            return _message(200, msgspec.json.encode(self._exchanges))
        known = self._answers.get(key)
        return known if known is not None else self._ask(key, headers)

    def _ask(self, key: tuple[bytes, bytes, bytes], headers: list[tuple[bytes, bytes]]) -> bytes:
        method, target, body = key
        connection = http.client.HTTPConnection(str(self._origin.hostname), self._origin.port or 80)
        sent = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in headers
            if name.decode("latin-1").lower() not in {*HOP_BY_HOP, "accept-encoding"}
        }
        path = self._origin.path.rstrip("/") + target.decode("latin-1")
        connection.request(method.decode(), path, body or None, sent)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        recorded = Exchange(method.decode(), target.decode("latin-1"), body, reply.status, text)
        self._exchanges.append(recorded)
        self._answers[key] = _message(reply.status, text)
        return self._answers[key]


class Replay(asyncio.Protocol):
    """One connection."""

    def __init__(self, memory: Memory, delay_seconds: float = 0.0) -> None:
        self._memory = memory
        self._delay_seconds = delay_seconds
        self._parser = HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # what TCP connections have

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self._target = b""
        self._headers = []
        self._body = []

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        key = (self._parser.get_method(), self._target, b"".join(self._body))
        answer = self._memory.answer(key, self._headers)
        is_last = not self._parser.should_keep_alive()
        if self._delay_seconds:
            loop = asyncio.get_running_loop()
            loop.call_later(self._delay_seconds, self._reply, answer, is_last)
        else:
            self._reply(answer, is_last)

    def _reply(self, answer: bytes, is_last: bool) -> None:
        if self._transport is None:
            return
        self._transport.write(answer)
        if is_last:
            self._transport.close()


def _message(status: int, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {http.client.responses.get(status, 'Unknown')}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def serve(origin: str, delay_seconds: float) -> None:
    """Serve on a free port of the loopback interface until the process ends."""
    memory = Memory(origin)
    server = await asyncio.get_running_loop().create_server(
        lambda: Replay(memory, delay_seconds), "127.0.0.1", 0, family=socket.AF_INET
    )
    print(f"ready http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve the replies of the origin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("origin", help="base URL of the upstream to repeat")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="before each reply (0)")
    options = parser.parse_args()
    uvloop.run(serve(options.origin, options.delay_ms / 1000))


if __name__ == "__main__":
    main()
