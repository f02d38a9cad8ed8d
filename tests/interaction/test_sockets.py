"""What only real connections show: requests that an HTTP library would never send."""

import asyncio
from typing import Any

import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.interaction.conftest import build_running, served, serving

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
HOST = b"host: gateway.test\r\n"
JSON = b"content-type: application/json\r\n"
BODY = b'{"name": "Ada"}'
START = b"POST /v1/example/greet HTTP/1.1\r\n"
LENGTH = b"content-length: 15\r\n"
WHOLE = START + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY


async def exchange(url: str, *parts: bytes) -> tuple[int, bytes]:
    """The status and the whole answer to `parts`, sent as they are; 0 when there is none."""
    port = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for part in parts:
        writer.write(part)
        await writer.drain()
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)
        length = _content_length(head)
        body = await asyncio.wait_for(reader.readexactly(length), PATIENCE_SECONDS)
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return 0, b""
    finally:
        writer.close()
    return int(head.split(b" ", 2)[1]), head + body


def _content_length(head: bytes) -> int:
    fields = [line.lower() for line in head.split(b"\r\n")]
    (length,) = [line for line in fields if line.startswith(b"content-length:")] or [b":0"]
    return int(length.partition(b":")[2])


async def test_a_whole_call_over_a_socket(socket_site: str) -> None:
    status, answer = await exchange(socket_site, WHOLE)
    assert status == 200
    assert b'"greeting":"Hello Ada"' in answer
    assert b"\r\nserver:" not in answer.lower()


@pytest.mark.parametrize(
    ("request_bytes", "statuses"),
    [
        (START + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (START + HOST + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (START + HOST + b"host: evil\r\n" + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (START + HOST + KEY + JSON + LENGTH + LENGTH + b"\r\n" + BODY, {400}),
        (START + HOST + KEY + KEY + JSON + LENGTH + b"\r\n" + BODY, {401}),
        (START + HOST + KEY + JSON + JSON + LENGTH + b"\r\n" + BODY, {415}),
        (
            START + HOST + KEY + JSON + LENGTH + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            {400},
        ),
        (START + HOST + KEY + JSON + b"content-length: +15\r\n\r\n" + BODY, {400}),
        (START + HOST + KEY + JSON + b"content-length: -1\r\n\r\n", {400}),
        (START + HOST + KEY + JSON + b"content-length: 99999999999999999999\r\n\r\n", {400, 413}),
        (START + HOST + KEY + JSON + b"content-length: 5000\r\n\r\n", {413}),
        (START + HOST + KEY + JSON + b"x: " + b"a" * 40000 + b"\r\n\r\n", {400, 431}),
        (START + HOST + KEY + JSON + b"x: a\r\n" * 200 + b"\r\n", {431}),
        (START.replace(b"greet", b"gr%ffet") + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (START.replace(b"greet", b"gr%00eet") + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (
            START.replace(b"/greet", b"%2fgreet") + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY,
            {400},
        ),
        (START.replace(b"greet", b"%2e%2e/x") + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY, {400}),
        (START.replace(b"greet", b"gr%c0%aeet") + HOST + KEY + JSON + LENGTH + b"\r\n", {400}),
        (b"GARBAGE\r\n\r\n", {400}),
    ],
)
async def test_requests_that_two_readers_could_understand_differently_are_refused(
    socket_site: str, request_bytes: bytes, statuses: set[int]
) -> None:
    status, answer = await exchange(socket_site, request_bytes)
    assert status in statuses, answer


@pytest.mark.parametrize("path", [b"/v1/example/greet", b"/mcp"])
async def test_a_chunked_body_is_cut_off_at_the_limit(
    site: Any, socket_site: str, path: bytes
) -> None:
    accept = b"accept: application/json, text/event-stream\r\n"
    head = START.replace(b"/v1/example/greet", path) + HOST + KEY + JSON + accept
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    status, answer = await exchange(
        socket_site, head + b"transfer-encoding: chunked\r\n\r\n", *[chunk] * 5
    )
    assert status == 413
    assert b"connection: close" in answer.lower()
    assert b'"code":"PAYLOAD_TOO_LARGE"' in answer
    # Over REST the request is the call; over MCP a call is a message, and there is none yet.
    recorded = [record.outcome for record in await site.records()]
    assert recorded == ([] if path == b"/mcp" else ["PAYLOAD_TOO_LARGE"])


@pytest.mark.parametrize("path", [b"/v1/example/greet", b"/mcp"])
async def test_a_body_that_stalls_is_cut_off_at_the_deadline(path: bytes) -> None:
    accept = b"accept: application/json, text/event-stream\r\n"
    head = START.replace(b"/v1/example/greet", path) + HOST + KEY + JSON + accept + LENGTH
    hasty = build_running(body_deadline_seconds=0.05)
    async with serving(hasty), served(hasty.app) as url:
        status, answer = await exchange(url, head + b"\r\n" + BODY[:3])
    assert status == 408
    assert b"connection: close" in answer.lower()


async def test_who_shows_no_key_is_answered_before_the_body_arrives(socket_site: str) -> None:
    status, _ = await exchange(socket_site, START + HOST + JSON + LENGTH + b"\r\n")
    assert status == 401


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_recorded_and_no_error(
    site: Any, socket_site: str, caplog: pytest.LogCaptureFixture
) -> None:
    port = int(socket_site.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(START + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY[:3])
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    status, _ = await exchange(socket_site, WHOLE)
    assert status == 200
    records = await site.records()
    assert [(record.operation, record.outcome) for record in records] == [
        ("example.greet", "CANCELLED"),
        ("example.greet", "ok"),
    ]
    assert "Traceback" not in caplog.text


async def test_a_websocket_is_refused_and_the_next_request_served(socket_site: str) -> None:
    upgrade = (
        b"GET /mcp HTTP/1.1\r\n" + HOST + b"connection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    status, _ = await exchange(socket_site, upgrade)
    assert status in {400, 401, 403}
    assert (await exchange(socket_site, WHOLE))[0] == 200
