"""A call is refused unparsed only if every reader of HTTP finds the same end of it."""

import pytest
from httptools import HttpParserError, HttpRequestParser
from hypothesis import given
from hypothesis import strategies as st

from gateway.transports.connections.paced import length_of_call, named, tool_of_call
from tests.unit.tables import each_of

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
