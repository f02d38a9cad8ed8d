"""What a live backend says of upstreams that misbehave, and what they report of their limit."""

import asyncio
import gzip
import resource
import zlib
from contextlib import asynccontextmanager, suppress

import pytest
from msgspec.structs import replace

from gateway.backends.http import pool
from gateway.backends.http.client import MAX_WAIT_SECONDS, RateState
from gateway.backends.http.live import LiveBackend
from gateway.backends.http.replies import ReplyLimits
from gateway.contract.upstream import Departure, EncodedRequest, RateHeaders
from gateway.errors import (
    InvalidReply,
    MalformedRequest,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.trace_context import current_trace, read_trace
from tests.eventually import PATIENCE_SECONDS, eventually

TIMEOUT = PATIENCE_SECONDS
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CREDENTIALS = {"token": "s3cret"}
CAP = 1024 * 1024


@asynccontextmanager
async def answering(*parts, keep_open=False):
    """A server that reads a request's head and writes `parts`: bytes, or an awaitable to wait for.

    Yields its URL and the list of request heads that it received.
    """
    heads = []
    released = asyncio.Event()

    async def serve(reader, writer):
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            if keep_open:
                await released.wait()
        except ConnectionError:
            pass  # The client may hang up on an answer that it does not want.
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", heads
    finally:
        released.set()
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def live(upstream, clock, base_url, **options):
    backend = LiveBackend(upstream, clock, base_url=base_url, credentials=CREDENTIALS, **options)
    try:
        yield backend
    finally:
        await backend.close()


def answer(body=b"{}", status="200 OK", **headers):
    """An HTTP/1.1 message with a length, headers replaced or added."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"Content-Type": "application/json", "Content-Length": len(body), **given}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


async def test_a_reply_comes_back_whole(library, clock, ask):
    """Header names in lower case, whatever the status."""
    async with (
        answering(answer(b'{"id":7}', "418 Teapot", X_Odd="Yes")) as (url, _),
        live(library, clock, url) as backend,
    ):
        reply = await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert (reply.status, reply.body, reply.headers["x-odd"]) == (418, b'{"id":7}', "Yes")


async def test_the_target_is_sent_as_it_was_encoded(library, clock, ask):
    """A second encoding, or a decoding, would change what the arguments mean."""
    request = ask(path=("books", "a/b%2e"), query=(("page[size]", "+1"),))
    async with (
        answering(answer()) as (url, heads),
        live(library, clock, f"{url}/api/v1/") as backend,
    ):
        await backend.send(request, timeout_seconds=TIMEOUT)
    assert heads[0].startswith("GET /api/v1/books/a%2Fb%252e?page%5Bsize%5D=%2B1 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("forwarding", "headers", "sent"),
    [
        ("ids", (), [f"traceparent: {PARENT}"]),
        ("all", (), [f"traceparent: {PARENT}", "tracestate: a=1"]),
        ("off", (), []),
        ("ids", (("Traceparent", "own"),), ["Traceparent: own"]),
    ],
)
async def test_the_trace_of_the_work_is_forwarded(library, clock, ask, forwarding, headers, sent):
    token = current_trace.set(read_trace(PARENT, "a=1"))
    try:
        async with (
            answering(answer()) as (url, heads),
            live(library, clock, url, forwarding=forwarding) as backend,
        ):
            await backend.send(ask(headers=headers), timeout_seconds=TIMEOUT)
    finally:
        current_trace.reset(token)
    lines = heads[0].splitlines()
    assert [line for line in lines if line.lower().startswith("trace")] == sent


async def test_the_environments_proxy_is_not_used(library, clock, ask, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with answering(answer()) as (url, heads), live(library, clock, url) as backend:
        await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert len(heads) == 1


async def test_a_redirect_is_refused_and_not_followed(library, clock, ask):
    async with answering(answer()) as (elsewhere, visits):
        moved = answer(b"", "302 Found", Location=f"{elsewhere}/stolen")
        async with answering(moved) as (url, _), live(library, clock, url) as backend:
            with pytest.raises(InvalidReply, match="redirect"):
                await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert visits == []


@pytest.mark.parametrize(
    ("location", "absolute"),
    [
        ("/files/a?x=1", "{url}/files/a?x=1"),
        ("c", "{url}/v1/a/c"),
        ("//files.example/a", "http://files.example/a"),
        ("https://files.example/a", "https://files.example/a"),
        ("http://[odd", "http://[odd"),
    ],
)
async def test_an_admitted_redirect_has_an_absolute_address(
    library, clock, ask, location, absolute
):
    encoded = EncodedRequest(target="/a/b?q=1")
    request = replace(ask(), path=(), query=(), encoded=encoded, admits_redirect=True)
    moved = answer(b"", "302 Found", Location=location)
    async with answering(moved) as (url, heads), live(library, clock, f"{url}/v1") as backend:
        reply = await backend.send(request, timeout_seconds=TIMEOUT)
    assert (reply.status, reply.headers["location"]) == (302, absolute.format(url=url))
    assert len(heads) == 1


async def test_cookies_are_not_kept(library, clock, ask):
    async with (
        answering(answer(Set_Cookie="session=1", Connection="close")) as (url, heads),
        live(library, clock, url) as backend,
    ):
        await backend.send(ask(), timeout_seconds=TIMEOUT)
        await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert "cookie" not in heads[1].lower()


async def test_a_body_of_200_megabytes_is_cut_off(library, clock, ask):
    """Memory follows the cap and not the answer."""
    chunk = b"x" * CAP
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 209715200\r\n\r\n"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with (
        answering(head, *[chunk] * 200) as (url, _),
        live(library, clock, url, replies=ReplyLimits(max_bytes=CAP)) as backend,
    ):
        with pytest.raises(InvalidReply, match="larger than"):
            await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


async def test_a_gzip_bomb_is_cut_off(library, clock, ask):
    """The cap counts decoded bytes: 120 KB of gzip may be 120 MB of zeros."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31, 9, zlib.Z_RLE)
    zeros = bytes(CAP)
    bomb = b"".join(compressor.compress(zeros) for _ in range(120)) + compressor.flush()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with (
        answering(answer(bomb, Content_Encoding="gzip")) as (url, _),
        live(library, clock, url, replies=ReplyLimits(max_bytes=CAP)) as backend,
    ):
        with pytest.raises(InvalidReply, match="larger than"):
            await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


async def test_gzip_is_read(library, clock, ask):
    body = gzip.compress(b'{"id":7}')
    async with (
        answering(answer(body, Content_Encoding="gzip")) as (url, heads),
        live(library, clock, url) as backend,
    ):
        assert (await backend.send(ask(), timeout_seconds=TIMEOUT)).body == b'{"id":7}'
    assert "Accept-Encoding: gzip\r\n" in heads[0]


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "x-unknown"])
async def test_a_coding_that_was_not_asked_for_is_refused(library, clock, ask, coding):
    async with (
        answering(answer(b"\x0b\x02\x80{}\x03", Content_Encoding=coding)) as (url, _),
        live(library, clock, url) as backend,
    ):
        with pytest.raises((InvalidReply, UpstreamUnavailable)):
            await backend.send(ask(), timeout_seconds=TIMEOUT)


@pytest.mark.parametrize(
    "raw",
    [
        answer(b'{"id":', Content_Length=100),
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"",
    ],
)
async def test_an_answer_that_breaks_off_is_unavailable(library, clock, ask, raw):
    async with answering(raw) as (url, _), live(library, clock, url) as backend:
        with pytest.raises(UpstreamUnavailable) as caught:
            await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert caught.value.is_sent is True


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (answer(b"not gzip", Content_Encoding="gzip"), "gzip of the upstream's answer is damaged"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not HTTP: "),
        (answer(b"5\r\nhe", Transfer_Encoding="chunked", Content_Length=2), "not HTTP: "),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", "head of .* is too large"),
    ],
)
async def test_an_answer_that_cannot_be_read_says_why(library, clock, ask, raw, cause):
    """The upstream is there, so the request is not repeated and the breaker counts no failure."""
    async with answering(raw) as (url, _), live(library, clock, url) as backend:
        with pytest.raises(InvalidReply, match=cause) as caught:
            await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert caught.value.is_retryable is False


@pytest.mark.parametrize("parts", [(), (answer(b'{"id":', Content_Length=100),)])
async def test_an_answer_that_does_not_come_meets_the_deadline(library, clock, ask, parts):
    """Before the head, and in the middle of the body."""
    async with answering(*parts, keep_open=True) as (url, _), live(library, clock, url) as backend:
        with pytest.raises(UpstreamTimeout):
            await backend.send(ask(), timeout_seconds=0.1)


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_a_request_that_waits_for_a_place_has_not_left(
    library, clock, ask, monkeypatch, *, is_cancelled
):
    monkeypatch.setattr(pool, "MAX_CONNECTIONS", 1)
    async with answering(keep_open=True) as (url, heads), live(library, clock, url) as backend:
        first = asyncio.create_task(backend.send(ask(), timeout_seconds=TIMEOUT))
        await eventually(lambda: _some(heads))
        waits = replace(ask(), departure=Departure())
        if is_cancelled:
            second = asyncio.create_task(backend.send(waits, timeout_seconds=TIMEOUT))
            await asyncio.sleep(0.01)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
        else:
            with pytest.raises(UpstreamUnavailable) as caught:
                await backend.send(waits, timeout_seconds=0.05)
            assert caught.value.is_sent is False
        assert waits.departure.is_unsent
        assert len(heads) == 1
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first


async def _some(found):
    return found or None


async def test_an_upstream_that_is_not_there_is_unavailable(library, clock, ask):
    async with answering() as (url, _):
        pass
    async with live(library, clock, url) as backend:
        with pytest.raises(UpstreamUnavailable) as caught:
            await backend.send(ask(), timeout_seconds=TIMEOUT)
    assert caught.value.is_sent is False
    assert "s3cret" not in str(caught.value)


async def test_a_segment_that_climbs_is_refused_before_anything_is_sent(library, clock, ask):
    async with answering(answer()) as (url, heads), live(library, clock, url) as backend:
        with pytest.raises(MalformedRequest):
            await backend.send(ask(path=("books", "..")), timeout_seconds=TIMEOUT)
    assert heads == []


async def test_closing_twice_is_harmless(library, clock, ask):
    async with answering(answer()) as (url, _), live(library, clock, url) as backend:
        await backend.send(ask(), timeout_seconds=TIMEOUT)
        await backend.close()


RULES = RateHeaders(remaining="X-Remaining", reset_seconds="X-Reset")


def test_nothing_left_closes_until_the_reset():
    rate = RateState(RULES)
    rate.note({"x-remaining": "0", "x-reset": "30"}, 100.0)
    with pytest.raises(UpstreamRateLimited) as caught:
        rate.check(110.0)
    assert caught.value.retry_after_seconds == pytest.approx(20.0)
    rate.check(130.0)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-remaining": "1", "x-reset": "30"},
        {"x-remaining": "0"},
        {"x-remaining": "0", "x-reset": "soon"},
        {"x-remaining": "-1", "x-reset": "30"},
        {"x-remaining": "²", "x-reset": "30"},
    ],
)
def test_headers_that_do_not_say_so_close_nothing(headers):
    rate = RateState(RULES)
    rate.note(headers, 100.0)
    rate.check(100.0)


def test_an_upstream_is_believed_for_an_hour_at_most():
    rate = RateState(RULES)
    rate.note({"x-remaining": "0", "x-reset": "999999999"}, 0.0)
    rate.check(MAX_WAIT_SECONDS)


def test_an_upstream_without_rate_headers_is_never_closed():
    rate = RateState(None)
    rate.note({"x-remaining": "0", "x-reset": "30"}, 0.0)
    rate.check(0.0)
