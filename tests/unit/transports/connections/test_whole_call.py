"""A call is refused unparsed only if every reader of HTTP finds the same end of it."""

import pytest

from gateway.transports.connections.whole_call import length_of_call

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


@pytest.mark.parametrize(
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
    ],
)
def test_anything_unusual_is_left_to_the_parser(data: bytes) -> None:
    assert length_of_call(data) is None
