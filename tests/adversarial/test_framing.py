"""Requests whose end is unclear, or that bring a body where none is expected."""

from typing import Any

import pytest

from tests.adversarial.wire import HOST, connected

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
CALL = b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + b"content-type: application/json\r\n"
NEXT = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.mark.parametrize(
    "fields",
    [
        b"content-length: 4\r\ntransfer-encoding: chunked\r\n",
        b"transfer-encoding: gzip, chunked\r\n",
        b"content-length: +4\r\n",
        b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        b"transfer-encoding: chunked\r\n" + HOST + b"transfer-encoding: chunked\r\n",
        b"content-length: 4\r\ncontent-length: 4\r\n",
        b"x: y\r\n" * 100 + b"content-length: 4\r\ntransfer-encoding: chunked\r\n",
        b"x: y\r\n" * 100 + b"transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
    ],
)
@pytest.mark.attack(
    "a request says in two ways where it ends, so that a proxy and the gateway may read what "
    "follows as different requests",
    required="the answer is 400, and the connection is closed: what follows is not read",
)
async def test_a_request_that_ends_in_two_places_ends_the_connection(
    socket_site: str, fields: bytes
) -> None:
    async with connected(socket_site) as wire:
        await wire.send(CALL + KEY + fields + b"\r\n{}\r\n" + NEXT)
        refused = await wire.answer()
        assert refused.status == 400
        assert refused.headers["connection"] == "close"
        assert await wire.is_closed()


@pytest.mark.parametrize("version", [b"", b" HTTP/0.9", b" HTTP/2.0", b" HTTP/1.7"])
@pytest.mark.attack(
    "a request line names another version of HTTP, or none, as in HTTP/0.9, where nothing follows",
    required="the answer is 400, and the connection is closed: what follows is not read",
)
async def test_a_request_of_another_version_ends_the_connection(
    socket_site: str, version: bytes
) -> None:
    async with connected(socket_site) as wire:
        await wire.send(NEXT)
        assert (await wire.answer()).status == 200
        await wire.send(b"GET /healthz" + version + b"\r\n" + HOST + b"\r\n" + NEXT)
        assert (await wire.answer()).status == 400
        assert await wire.is_closed()


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"OPTIONS"])
@pytest.mark.parametrize("path", [b"/events", b"/v1/example/greet", b"/docs", b"/readyz"])
@pytest.mark.attack(
    "a request that takes no body (GET, HEAD) announces one of a mebibyte",
    required="the answer is 400 before any of the body is read, and the connection is closed",
)
async def test_a_body_where_none_is_expected_is_refused_unread(
    socket_site: str, method: bytes, path: bytes
) -> None:
    async with connected(socket_site) as wire:
        await wire.send(
            method + b" " + path + b" HTTP/1.1\r\n" + HOST + b"content-length: 1048576\r\n\r\n"
        )
        head = await wire.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"\r\nconnection: close\r\n" in head


@pytest.mark.attack(
    "a chunked body breaks off in garbage, a hundred times",
    required="each is answered with 400, and the log holds no traceback",
)
async def test_a_broken_chunk_is_no_event_for_the_log(
    socket_site: str, site: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(100):
        async with connected(socket_site) as wire:
            await wire.send(CALL + KEY + b"transfer-encoding: chunked\r\n\r\n2\r\n{")
            await wire.send(b"ZZ\r\n")
            assert (await wire.answer()).status == 400
            assert await wire.is_closed()
    assert [line for line in caplog.records if line.exc_info or line.levelname == "ERROR"] == []


@pytest.mark.parametrize("broken", [b"ZZ\r\n", b"1\r\n{ZZ\r\n"])
@pytest.mark.attack(
    "a client expects `100 Continue`, and sends a broken chunk in the same packet, fifty times",
    required="each is answered with 400, nothing is to be continued, and the log holds no "
    "traceback",
)
async def test_a_broken_chunk_of_a_client_that_waits_is_no_event_for_the_log(
    socket_site: str, broken: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    expecting = b"expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n"
    for _ in range(50):
        async with connected(socket_site) as wire:
            await wire.send(CALL + KEY + expecting + broken)
            assert (await wire.answer()).status == 400
            assert await wire.is_closed()
    assert [line for line in caplog.records if line.exc_info or line.levelname == "ERROR"] == []


@pytest.mark.attack(
    "a body larger than the limit is sent whole before the answer is read",
    required="it is dropped unread, and the answer 413 arrives: no reset hides it",
)
async def test_a_client_that_sends_first_and_reads_later_sees_why_it_was_refused(
    socket_site: str,
) -> None:
    """A reset in the middle of its body would hide the answer from it."""
    async with connected(socket_site) as wire:
        size = 8 * 2**20
        await wire.send(CALL + KEY + b"content-length: %d\r\n\r\n" % size)
        await wire.send(b" " * size)
        refused = await wire.answer()
    assert refused.status == 413
    assert refused.headers["connection"] == "close"


@pytest.mark.attack(
    "a call without a key announces a body and never sends it",
    required="the answer is 401 at once: the key is checked before the body is waited for",
)
async def test_a_body_without_a_key_is_not_read(socket_site: str) -> None:
    async with connected(socket_site) as wire:
        await wire.send(CALL + b"content-length: 4000\r\n\r\n")
        assert (await wire.answer()).status == 401
