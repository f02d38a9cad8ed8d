"""An answer that is written at once is the one that uvicorn writes in two messages."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.transports.connections import connection
from gateway.transports.connections.listen import bind, serve_http
from gateway.transports.http.asgi import read_body, respond
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from tests.eventually import PATIENCE_SECONDS
from tests.unit.transports.connections.test_listen import PLAN

ANSWERS: dict[str, tuple[int, bytes, list[tuple[bytes, bytes]]]] = {
    "/ok": (200, b'{"a":1}', [(b"gateway-backend", b"mock")]),
    "/empty": (200, b"", []),
    "/none": (204, b"", [(b"allow", b"GET")]),
    "/failed": (503, b"{}", [(b"retry-after", b"1")]),
    "/last": (400, b"{}", [(b"connection", b"close")]),
    "/tab": (200, b"{}", [(b"x-note", b"a\tb")]),
    "/unsafe": (200, b"{}", [(b"x-note", b"a\r\nx-more: b")]),
}


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})
        return
    await read_body(receive)
    status, body, headers = ANSWERS[scope["path"]]
    await respond(send, status, body, headers=headers)


@asynccontextmanager
async def serving() -> AsyncIterator[int]:
    """The port of the gateway's server."""
    ready = asyncio.Event()
    edge = Edge(application, EdgeRules(hosts=HostRules(["localhost"])))

    async def named(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"x-request-id", b"the-id")]
        await edge(scope, receive, send)

    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    task = asyncio.create_task(serve_http(named, listener, ready.set, PLAN))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ready.wait()
    yield port
    signal.raise_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await task


async def answers_to(port: int, requests: bytes) -> bytes:
    """All that the gateway sends on one connection for `requests`, with the ids left out."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(requests)
    async with asyncio.timeout(PATIENCE_SECONDS):
        found = await reader.read()
    writer.close()
    lines = found.split(b"\r\n")
    return b"\r\n".join(line for line in lines if not line.startswith(b"date:"))


def request(method: str, path: str, more: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{more}\r\n".encode()


METHODS = ("GET", "HEAD")
LAST = request("GET", "/ok", "connection: close\r\n")


async def test_both_ways_write_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(path, request(method, path) + LAST) for path in ANSWERS for method in METHODS]
    async with serving() as port:
        at_once = [await answers_to(port, requests) for _, requests in asked]
        monkeypatch.setattr(connection, "write_answer", lambda *_: False)
        in_two = [await answers_to(port, requests) for _, requests in asked]
    assert in_two == at_once
    for (path, _), answer in zip(asked, at_once, strict=True):
        assert answer.startswith(b"HTTP/1.1 ") is (path != "/unsafe"), path


async def test_a_usual_answer_is_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bool] = []
    write = connection.write_answer

    def noting(*answer: Any) -> bool:
        written.append(write(*answer))
        return written[-1]

    monkeypatch.setattr(connection, "write_answer", noting)
    async with serving() as port:
        await answers_to(port, request("GET", "/ok") + request("GET", "/tab") + LAST)
    assert written == [True, True, False]
