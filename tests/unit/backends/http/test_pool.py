"""Kept connections: which reply belongs to which request, and when a connection is used again."""

import asyncio
import gzip
import ssl
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.http import pool as pools
from gateway.backends.http.connection import MAX_HEAD_BYTES
from gateway.backends.http.live import LiveBackend
from gateway.backends.http.pool import ConnectionPool, NotConnected, NotTrusted
from gateway.backends.http.replies import ConnectionBroken, ReplyLimits
from gateway.backends.wire import WireRequest
from gateway.errors import InternalError, InvalidReply
from tests.eventually import PATIENCE_SECONDS
from tests.tls import tls_before
from tests.unit.backends.http.scripted import CAP, CHUNKED, CLOSE, GET, OK, get, serving, until


async def test_a_connection_is_used_again():
    async with serving() as (upstream, pool):
        for _ in range(3):
            assert (await get(pool)).body == b"ok"
    assert upstream.connections == 1


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ((b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", CLOSE), b"a"),
        ((b"HTTP/1.1 200 OK\r\n\r\nto the", b" end", CLOSE), b"to the end"),
        ((b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", CLOSE), b"a"),
    ],
    ids=["asked", "without a length", "HTTP/1.0"],
)
async def test_a_connection_that_ends_with_its_reply_is_not_used_again(script, body):
    async with serving(script) as (upstream, pool):
        assert (await get(pool)).body == body
        assert (await get(pool)).body == b"ok"
    assert upstream.connections == 2


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ((b"HTTP/1.1 204 No Content\r\n\r\n",), b""),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", OK), b"ok"),
        ((b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,), b"ok"),
        (
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\no",
                b"k\r\n0\r\nContent-Type: text/html\r\n\r\n",
            ),
            b"ok",
        ),
        (tuple(bytes([each]) for each in OK), b"ok"),
    ],
    ids=["204", "100", "103", "chunked, with a trailer", "in single bytes"],
)
async def test_how_a_reply_ends(script, body):
    async with serving(script) as (upstream, pool):
        reply = await get(pool)
        assert (await get(pool)).body == b"ok"
    assert reply.body == body
    assert reply.headers.keys() <= {"content-length", "transfer-encoding"}
    assert upstream.connections == 1


async def test_a_reply_to_head_has_no_body():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    async with serving((head,)) as (_, pool):
        async with asyncio.timeout(PATIENCE_SECONDS):
            reply = await pool.exchange(GET.replace(b"GET", b"HEAD"), is_head=True)
        assert (reply.headers["content-length"], reply.body) == ("1000", b"")
        assert (await get(pool)).body == b"ok"


@pytest.mark.parametrize(
    "script",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", CLOSE),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * MAX_HEAD_BYTES,),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2 * MAX_HEAD_BYTES,),
        (b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * MAX_HEAD_BYTES,),
        (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"2\r\nok\r\n0\r\n\r\n",
        ),
        (CHUNKED + b"2\r\nok\r\n0\r\nX: ", *[b"y" * MAX_HEAD_BYTES] * 9),
        (CHUNKED + b"2\r\nok\r\n0\r\n", *[b"X: y\r\n" * 10_000] * 9),
        (CHUNKED + b"2\r\nok\r\n2;", *[b"y" * MAX_HEAD_BYTES] * 9),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"whole")[:-4], CLOSE),
    ],
    ids=[
        "a length and chunks",
        "two lengths",
        "an unknown transfer coding",
        "another protocol",
        "many fields",
        "an endless field",
        "endless interim responses",
        "a folded field",
        "two transfer codings",
        "an endless trailer",
        "endless trailers",
        "an endless extension of a chunk",
        "no gzip",
        "half a gzip",
    ],
)
async def test_what_is_not_http_is_no_reply(script):
    async with serving(script) as (_, pool):
        with pytest.raises(InvalidReply):
            await get(pool)
        assert (await get(pool)).body == b"ok"


@pytest.mark.parametrize(
    "script",
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n" + b"x" * 100_001,),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_001,),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nok",),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: identity\r\n",
            b"Content-Length: 2\r\n\r\nok",
        ),
    ],
    ids=["declared", "undeclared", "a coding that was not asked for", "two codings"],
)
async def test_a_reply_that_cannot_be_taken_is_rejected(script):
    async with serving(script) as (_, pool):
        with pytest.raises(InvalidReply):
            await get(pool)
        assert (await get(pool)).body == b"ok"


async def test_a_connection_that_the_upstream_has_closed_is_not_used():
    async with serving((OK, CLOSE)) as (upstream, pool):
        await get(pool)
        await until(lambda: not pool._idle or not pool._idle[0][0].is_reusable)
        assert (await get(pool)).body == b"ok"
    assert len(upstream.requests) == 2


async def test_a_late_reply_is_not_that_of_the_next_request():
    """It has arrived, but the event loop has not read it when the next request is sent."""
    late = OK.replace(b"ok", b"no")
    async with serving() as (upstream, pool):
        await get(pool)
        upstream.writers[0].write(late)
        assert (await get(pool)).body == b"ok"
    assert upstream.connections == 2


async def test_a_connection_is_not_kept_for_long(monkeypatch):
    monkeypatch.setattr(pools, "KEEP_SECONDS", 0.01)
    async with serving() as (upstream, pool):
        await get(pool)
        await until(lambda: upstream.open == 0)
        assert not pool._open


async def test_a_caller_that_is_cancelled_leaves_no_reply_behind():
    late = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
    async with serving((None, late)) as (upstream, pool):
        asked = asyncio.create_task(get(pool))
        await until(lambda: upstream.requests)
        asked.cancel()
        with suppress(asyncio.CancelledError):
            await asked
        upstream.released.set()
        assert (await get(pool)).body == b"ok"
        assert len(pool._open) == 1


async def test_a_caller_that_is_cancelled_with_its_reply_leaves_no_connection_behind():
    async with serving() as (_, pool):
        for _ in range(5):
            asked = asyncio.create_task(pool.exchange(GET, is_head=False))
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not any(each._reply for each in pool._open):  # noqa: ASYNC110 - no event shows it
                    await asyncio.sleep(0)
            (connection,) = pool._open
            connection._reply.add_done_callback(lambda _, task=asked: task.cancel())
            with suppress(asyncio.CancelledError):
                await asked
            await until(lambda: len(pool._open) == len(pool._idle))


async def test_a_connection_is_not_used_behind_a_body_that_is_not_read():
    """An upstream may refuse a request early, keep the connection, and not read on."""
    async with serving((OK, None)) as (upstream, pool):
        large = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 9_000_000
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await pool.exchange(large, is_head=False)).body == b"ok"
        assert (await get(pool)).body == b"ok"
    assert upstream.connections == 2


async def test_closing_ends_a_request_as_a_failure():
    async with serving((b"HTTP/1.1 200 OK\r\n\r\nhalf a", None)) as (upstream, pool):
        asked = asyncio.create_task(get(pool))
        await until(lambda: upstream.requests and any(each._body for each in pool._open))
        await pool.close()
        with pytest.raises(ConnectionBroken):
            await asked


async def test_spaces_around_a_value_do_not_belong_to_it():
    spaced = b"HTTP/1.1 200 OK\r\nTransfer-Encoding:\tchunked \r\nX-Left:  5\t\r\n\r\n0\r\n\r\n"
    async with serving((spaced,)) as (_, pool):
        assert (await get(pool)).headers["x-left"] == "5"


async def test_links_in_several_fields_are_one_list():
    links = b"Link: <a>; rel=next\r\nLink: <b>; rel=last\r\n"
    linked = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + links + b"\r\n"
    async with serving((linked,)) as (_, pool):
        assert (await get(pool)).headers["link"] == "<a>; rel=next, <b>; rel=last"


async def test_a_repeated_field_is_one_list_unless_it_is_no_list():
    """RFC 9110 §5.3. Of a field with one value, the last one counts."""
    fields = b"X-Left: a\r\nContent-Type: text/html\r\nx-left: b, c\r\nX-LEFT: d\r\n"
    fields += b"Content-Type: text/plain\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
    script = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + fields + b"\r\n"
    async with serving((script,)) as (_, pool):
        headers = (await get(pool)).headers
    assert headers["x-left"] == "a, b, c, d"
    assert (headers["content-type"], headers["set-cookie"]) == ("text/plain", "b=2")


GZIP = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
PACKED = gzip.compress(b"a")


class Decompressor:
    made = 0

    def __init__(self, window):
        self._own = DECOMPRESSOBJ(window)

    def decompress(self, body, most):
        made = self._own.decompress(body, most)
        Decompressor.made += len(made)
        return made

    def __getattr__(self, name):
        return getattr(self._own, name)


DECOMPRESSOBJ = zlib.decompressobj
BOMB = gzip.compress(bytes(40 * CAP))


@pytest.mark.parametrize(
    ("packed", "error", "made"),
    [
        (BOMB, InvalidReply, 0),
        (BOMB[:-4] + (7).to_bytes(4, "little"), InvalidReply, 8),
        (BOMB[:-4] + bytes(4), InvalidReply, 1),
        (BOMB[:-4] + b"\xff" * 4, InvalidReply, 0),
        (gzip.compress(bytes(CAP + 1)), InvalidReply, 0),
        (BOMB + PACKED, InvalidReply, CAP + 1),
        (PACKED + BOMB, InvalidReply, 0),
        (gzip.compress(bytes(CAP // 2)) * 3, InvalidReply, CAP + 1),
        (PACKED * 17, InvalidReply, 16),
        (PACKED + b"\0", InvalidReply, 1),
        (PACKED * 2 + b"\0", InvalidReply, 2),
        (PACKED + PACKED[:-1], InvalidReply, 2),
    ],
    ids=[
        "a bomb",
        "a false size",
        "no size",
        "an impossible size",
        "one byte too many",
        "a bomb before another member",
        "a bomb after another member",
        "members that are too large together",
        "too many members",
        "a byte after it",
        "a byte after two members",
        "half a member",
    ],
)
async def test_gzip_that_is_too_large_is_not_decompressed(monkeypatch, packed, error, made):
    monkeypatch.setattr(zlib, "decompressobj", Decompressor)
    monkeypatch.setattr(Decompressor, "made", 0)
    async with serving((GZIP % len(packed) + packed,)) as (_, pool):
        with pytest.raises(error):
            await get(pool)
    assert Decompressor.made <= made


@pytest.mark.parametrize("size", [0, 1, CAP])
async def test_gzip_of_any_size_up_to_the_limit_is_read(size):
    packed = gzip.compress(bytes(size), mtime=0)
    head = GZIP % len(packed)
    older = head.replace(b"gzip", b"X-GZip")
    async with serving((head + packed,), (older + packed,)) as (_, pool):
        for _ in range(2):
            assert (await get(pool)).body == bytes(size)


async def test_members_of_gzip_are_read_as_one_body():
    """RFC 1952 §2.2."""
    halves = [gzip.compress(bytes(CAP // 2)) * 2, gzip.compress(b'{"a":') + gzip.compress(b"1}")]
    halves.append(gzip.compress(b"") + PACKED * 14 + gzip.compress(b""))
    async with serving(*[(GZIP % len(each) + each,) for each in halves]) as (_, pool):
        assert [(await get(pool)).body for _ in halves] == [bytes(CAP), b'{"a":1}', b"a" * 14]


async def test_a_reply_is_watched_while_it_arrives():
    pieces = []
    seen = asyncio.Event()

    def watch(headers, piece):
        pieces.append((headers["x-left"], piece))
        seen.set()

    head = b"HTTP/1.1 200 OK\r\nX-Left: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with serving((head, b"1\r\na\r\n", None, b"1\r\nb\r\n0\r\n\r\n")) as (upstream, pool):
        asking = asyncio.create_task(pool.exchange(GET, is_head=False, watch=watch))
        await asyncio.wait_for(seen.wait(), PATIENCE_SECONDS)
        assert pieces == [("5", b"a")]
        upstream.released.set()
        assert (await asking).body == b"ab"
        assert pieces[1:] == [("5", b"b")]


@pytest.mark.parametrize(
    "script",
    [b"HTTP/1.1 503 No\r\nContent-Length: 1\r\n\r\na", GZIP % len(PACKED) + PACKED],
    # The packed bytes have the time in them, and the workers of a test run compare the ids.
    ids=["failure", "gzip"],
)
async def test_failures_and_bodies_with_a_coding_are_not_watched(script):
    pieces = []
    async with serving((script,)) as (_, pool):
        await pool.exchange(GET, is_head=False, watch=lambda *piece: pieces.append(piece))
    assert pieces == []


async def test_requests_beyond_the_limit_wait(monkeypatch):
    monkeypatch.setattr(pools, "MAX_CONNECTIONS", 2)
    async with serving((None, OK), (None, OK)) as (upstream, pool):
        asked = [asyncio.create_task(get(pool)) for _ in range(5)]
        await until(lambda: len(upstream.requests) == 2)
        upstream.released.set()
        assert [(await each).body for each in asked] == [b"ok"] * 5
    assert upstream.connections == 2


async def test_a_host_that_is_not_there():
    async with serving() as (_, pool):
        port = pool._port
    for host in ("127.0.0.1", "no-such-host.invalid", "a..b"):
        pool = ConnectionPool(host, port, is_encrypted=False, replies=ReplyLimits(max_bytes=CAP))
        with pytest.raises(NotConnected):
            await get(pool)


async def test_a_certificate_decides_whether_anything_is_sent(tmp_path):
    async with (
        serving() as (upstream, plain),
        tls_before(f"http://127.0.0.1:{plain._port}", tmp_path) as proxy,
    ):
        port = int(proxy.url.rpartition(":")[2])
        unknown = ConnectionPool(
            "127.0.0.1", port, is_encrypted=True, replies=ReplyLimits(max_bytes=CAP)
        )
        for _ in range(3):
            with pytest.raises(NotTrusted):
                await get(unknown)
        assert upstream.requests == []
        assert not unknown._open
        await unknown.close()
        trust = ssl.create_default_context(cafile=tmp_path / "authority.pem")
        known = ConnectionPool(
            "127.0.0.1", port, is_encrypted=True, replies=ReplyLimits(max_bytes=CAP), trust=trust
        )
        for _ in range(2):
            assert (await get(known)).body == b"ok"
        await known.close()
    assert proxy.connections == 1


@given(
    text=st.lists(
        st.sampled_from(
            [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 C\r\n\r\n", b"Content-Length: 3\r\n", b"\r\n"]
        )
        | st.sampled_from(
            [b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"abc"]
        )
        | st.binary(max_size=8),
        max_size=8,
    )
)
async def test_any_bytes_are_a_reply_or_an_error(text):
    async with serving((b"".join(text), CLOSE)) as (_, pool):
        with suppress(ConnectionBroken, InvalidReply):
            assert 200 <= (await get(pool)).status < 600
        assert (await get(pool)).body == b"ok"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "a\r\nX: y"),
        ("Authorization", "a\nX: y"),
        ("Authorization", "a\0b"),
        ("Authorization", "é"),
        ("Content-Length", "0"),
        ("transfer-encoding", "chunked"),
        ("Host", "other"),
    ],
)
async def test_a_header_that_would_change_the_message_is_not_sent(library, clock, ask, name, value):
    """The last check before the wire. Contracts and settings with such a header do not start."""
    async with serving() as (upstream, pool):
        backend = LiveBackend(
            library, clock, base_url=f"http://127.0.0.1:{pool._port}", credentials={"token": "t"}
        )
        with pytest.raises(InternalError):
            await backend._wire.exchange(
                WireRequest(method="GET", target="/books/7", headers=((name, value),))
            )
        await backend.close()
    assert upstream.requests == []


@pytest.mark.parametrize("target", ["books", "/a b", "/a#b", "/é", "//\r\nX: y"])
async def test_a_target_that_is_not_one_path_is_not_sent(library, clock, target):
    async with serving() as (upstream, pool):
        backend = LiveBackend(
            library, clock, base_url=f"http://127.0.0.1:{pool._port}", credentials={"token": "t"}
        )
        with pytest.raises(InternalError):
            await backend._wire.exchange(WireRequest(method="GET", target=target, headers=()))
        await backend.close()
    assert upstream.requests == []


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        ("GET", None, None),
        ("DELETE", None, None),
        ("DELETE", b"{}", "2"),
        ("POST", None, "0"),
        ("PUT", b"", "0"),
        ("POST", b"{}", "2"),
    ],
)
async def test_the_length_of_a_body_is_declared(library, clock, method, body, length):
    async with serving() as (upstream, pool):
        url = f"http://127.0.0.1:{pool._port}/base"
        backend = LiveBackend(library, clock, base_url=url, credentials={"token": "t"})
        wire = WireRequest(method=method, target="/a?b=c", headers=(("X", "y"),), body=body)
        await backend._wire.exchange(wire)
        await backend.close()
        port = pool._port
    line, *fields = upstream.requests[0].decode().lower().split("\r\n")[:-2]
    assert line == f"{method} /base/a?b=c http/1.1".lower()
    declared = [] if length is None else [f"content-length: {length}"]
    assert sorted(fields) == sorted(
        [f"host: 127.0.0.1:{port}", "x: y", "accept-encoding: gzip", *declared]
    )
