"""A call is refused unparsed only as every reader would, and an answer is written in one piece."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from httptools import HttpParserError, HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st

from gateway.transports.connections import connection
from gateway.transports.connections.listen import bind, serve_http
from gateway.transports.connections.paced import length_of_call, named, tool_of_call
from gateway.transports.http.asgi import read_body, respond
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from tests.eventually import PATIENCE_SECONDS
from tests.unit.tables import each_of
from tests.unit.transports.connections.test_listen import PLAN

HOST = b"Host: gateway.test\r\n"
BODY = b'{"name": "Ada"}'
START = b"POST /v1/example/greet HTTP/1.1\r\n" + HOST
WHOLE = START + b"Content-Length: 15\r\n\r\n" + BODY


@pytest.mark.parametrize(
    "data",
    [
        WHOLE,
        WHOLE.replace(b"/v1/example/greet", b"/mcp"),
        WHOLE.replace(b"/v1/example/greet", b"/mcp/avinode?x=1"),
        WHOLE.replace(b"Content-Length:", b"content-LENGTH:\t"),
        WHOLE.replace(HOST, HOST + b"Connection: Keep-Alive\r\n"),
        WHOLE.replace(HOST, HOST + b"x-content-length: 3\r\nX-Expect: 100-continue\r\n"),
    ],
)
def test_the_length_is_that_of_head_and_body(data: bytes) -> None:
    assert length_of_call(data) == len(data)


def test_a_body_that_has_not_arrived_counts() -> None:
    assert length_of_call(WHOLE.removesuffix(BODY)) == len(WHOLE)


def test_what_follows_does_not_count() -> None:
    assert length_of_call(WHOLE + WHOLE) == len(WHOLE)


@each_of(
    "data",
    [
        b"",
        START,
        WHOLE.replace(b"/v1/", b"/webhooks/"),
        WHOLE.replace(b"POST", b"GET"),
        WHOLE.replace(b"POST", b" POST"),
        WHOLE.replace(b"HTTP/1.1", b"HTTP/1.0"),
        WHOLE.replace(b" HTTP/1.1", b""),
        WHOLE.replace(b"Content-Length: 15\r\n", b""),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length: +15"),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length: 15, 15"),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length : 15"),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length:\r\n 15"),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length: 1\r\n 5"),
        WHOLE.replace(b"Content-Length: 15", b"Content-Length: 9999999999"),
        WHOLE.replace(HOST, HOST + b"Content-Length: 15\r\n"),
        WHOLE.replace(HOST, HOST + b"Transfer-Encoding: chunked\r\n"),
        WHOLE.replace(HOST, HOST + b"Transfer-Encoding : chunked\r\n"),
        WHOLE.replace(HOST, HOST + b"x: 1\nTransfer-Encoding: chunked\r\n"),
        WHOLE.replace(HOST, HOST + b"x: 1\rTransfer-Encoding: chunked\r\n"),
        WHOLE.replace(HOST, HOST + b"Expect: 100-continue\r\n"),
        WHOLE.replace(HOST, HOST + b"Upgrade: h2c\r\n"),
        WHOLE.replace(HOST, HOST + b"Connection: close\r\n"),
        WHOLE.replace(HOST, HOST + b"Connection: keep-alive, upgrade\r\n"),
        WHOLE.replace(HOST, HOST + b"no colon\r\n"),
        WHOLE.replace(HOST, HOST + b": no name\r\n"),
        WHOLE.replace(HOST, HOST + b"a name: 1\r\n"),
        WHOLE.replace(HOST, HOST + b"x: \x00\r\n"),
        WHOLE.replace(HOST, HOST + b"x: \x7f\r\n"),
        WHOLE.replace(HOST, HOST + b"\xff: 1\r\n"),
        WHOLE.replace(b"greet", b"gr eet"),
        WHOLE.replace(b"greet", b"gr\x01eet"),
        WHOLE.replace(b"greet", b"gr\xffeet"),
    ],
)
def test_anything_unusual_is_left_to_the_parser(data: bytes) -> None:
    assert length_of_call(data) is None


class Reader:
    """The body that the parser of the server finds."""

    def __init__(self) -> None:
        self.body = b""
        self.is_whole = False

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.is_whole = True


HEAD_BYTES = len(WHOLE) - len(BODY) - 4


@given(st.integers(5, HEAD_BYTES), st.binary(max_size=3), st.integers(0, 2))
def test_the_parser_refuses_no_head_that_is_taken(at: int, put: bytes, taken: int) -> None:
    changed = WHOLE[:at] + put + WHOLE[min(at + taken, HEAD_BYTES) :]
    length = length_of_call(changed)
    if length is None:
        return
    reader = Reader()
    parser = HttpRequestParser(reader)
    try:
        parser.feed_data(changed.ljust(length, b" ")[:length])
    except HttpParserError as error:
        raise AssertionError(changed) from error
    assert reader.is_whole


@pytest.mark.parametrize(
    ("head", "tool"),
    [
        (b"POST /v1/golf/search HTTP/1.1\r\nHost: a\r\n\r\n", b"/v1/golf/search "),
        (b"POST /v1/golf/search?a=%20 HTTP/1.1\r\n\r\nMcp-Name: b", b"/v1/golf/search "),
        (b"POST /mcp HTTP/1.1\r\nmCP-name: \tgolf_search \r\n\r\n", b"/mcp golf_search"),
        (b"POST /mcp HTTP/1.1\r\nMcp-Name:a\r\nMcp-Name:b\r\n\r\n", b"/mcp a"),
        (b"POST /mcp HTTP/1.1\r\nX-Mcp-Name: a\r\n\r\n", b"/mcp "),
    ],
)
def test_the_tool_is_the_path_and_the_name_in_the_head(head: bytes, tool: bytes) -> None:
    assert tool_of_call(head) == tool


def test_a_head_that_was_parsed_gives_the_same_name() -> None:
    assert named(b"/mcp", b"golf_search ") == b"/mcp golf_search"


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
