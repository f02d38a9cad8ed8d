"""What a client may cost before it has sent a whole request, and how requests follow each other."""

import asyncio
import gc
import json
import socket
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
from msgspec import Struct

from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.http.asgi import respond
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.interaction.conftest import served

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
HOST = b"host: gateway.test\r\n"
JSON = b"content-type: application/json\r\n"
BODY = b'{"name": "Ada"}'
START = b"POST /v1/example/greet HTTP/1.1\r\n"
LENGTH = b"content-length: 15\r\n"
WHOLE = START + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY
CHUNKED = START + HOST + JSON + b"transfer-encoding: chunked\r\n"
ALIVE = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
LEAVE = b"GET /healthz HTTP/1.1\r\n" + HOST + b"connection: close\r\n\r\n"
H2C = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"
WEBSOCKET = (
    b"GET /mcp HTTP/1.1\r\n" + HOST + KEY + b"connection: upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


class StrictConnection(Connection):
    """Few connections, with few requests in one go, and much time."""

    limits = ConnectionLimits(
        head_deadline_seconds=PATIENCE_SECONDS, max_connections=3, max_pipelined=5
    )


class HastyConnection(Connection):
    """A connection whose time ends at once."""

    limits = ConnectionLimits(head_deadline_seconds=0.05, linger_seconds=0.05)


HASTY = pytest.mark.parametrize("connection", [HastyConnection])


@pytest.fixture
def connection() -> type[Connection]:
    return StrictConnection


class Answer(Struct, frozen=True):
    """One answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> Any:
        assert self.headers["content-type"] == "application/problem+json"
        return json.loads(self.body)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection of one's own to the server at `url`."""
    port = int(url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> Answer:
    """The next answer."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)
    line, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(line.split(" ")[1]), headers, body)


async def answers(url: str, *parts: bytes) -> list[Answer]:
    """Every answer to `parts`, which arrive one by one, until the server closes the connection."""
    async with connected(url) as (reader, writer):
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await answers_left(reader)


async def answers_left(reader: asyncio.StreamReader) -> list[Answer]:
    """Every answer that still comes until the server closes the connection."""
    found = []
    try:
        while True:
            found.append(await answer(reader))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return found


@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (START + HOST, b"x-header: %b\r\n" % (b"a" * 1000)),
        (START + HOST + b"x-header: ", b"a" * 1000),
        (START + HOST, b"x" * 1000),
        (b"GET /", b"a" * 1000),
        (b"", b"\r\n" * 500),
        (CHUNKED + KEY + b"\r\n1\r\n{\r\n0\r\n", b"x-trailer: %b\r\n" % (b"a" * 1000)),
        (CHUNKED + KEY + b"\r\n1\r\n{\r\n0\r\nx-trailer: ", b"a" * 1000),
        (CHUNKED + KEY + b"\r\n1;", b"a" * 1000),
    ],
    ids=["headers", "value", "name", "line", "blank", "trailers", "trailer", "extension"],
)
async def test_what_never_ends_is_refused_before_it_fills_the_memory(
    socket_site: str, start: bytes, endless: bytes
) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(start)
        refusal = asyncio.ensure_future(answers_left(reader))
        sent = 0
        while sent < 100_000_000 and not refusal.done():
            writer.write(endless)
            sent += len(endless)
            await asyncio.sleep(0)
        (refused,) = await refusal
    assert sent < 1_000_000
    assert refused.status == 431
    assert refused.problem["code"] == "HEADERS_TOO_LARGE"
    assert refused.headers["connection"] == "close"


@pytest.mark.parametrize(
    ("broken", "status", "outcome"),
    [(b"ZZ\r\n", 400, "VALIDATION_ERROR"), (b"1;" + b"a" * 600_000, 431, "HEADERS_TOO_LARGE")],
)
async def test_a_body_that_breaks_off_is_answered_and_recorded_as_one_request(
    site: Any, socket_site: str, broken: bytes, status: int, outcome: str
) -> None:
    head = CHUNKED + KEY + b"x-request-id: mine\r\n\r\n"
    (refused,) = await answers(socket_site, head + b"1\r\n{\r\n", broken)
    assert (refused.status, refused.headers["connection"]) == (status, "close")
    assert refused.headers["x-request-id"] == refused.problem["request_id"] == "mine"
    records = await site.records()
    assert [(each.request_id, each.status, each.outcome) for each in records] == [
        ("mine", status, outcome)
    ]


async def test_a_broken_request_behind_a_call_is_answered_in_its_turn(
    site: Any, socket_site: str
) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(WHOLE.replace(b"greet", b"wait") + CHUNKED + KEY + b"\r\nZZ\r\n")
        await site.handlers.entered.wait()
        site.handlers.release.set()
        assert [each.status for each in await answers_left(reader)] == [200, 400]


async def test_a_call_under_way_keeps_its_connection_whatever_follows_it(
    site: Any, socket_site: str
) -> None:
    async with (
        connected(socket_site) as first,
        connected(socket_site) as second,
        connected(socket_site) as third,
    ):
        for each in (first, second, third):
            each[1].write(WHOLE.replace(b"greet", b"wait"))
            await site.handlers.entered.wait()
            site.handlers.entered.clear()
        first[1].write(START + HOST + KEY + JSON + LENGTH + b"\r\n" + BODY[:3])
        for _ in range(20):
            await asyncio.sleep(0)
        (refused,) = await answers(socket_site)
        assert refused.status == 429
        site.handlers.release.set()
        for each in (first, second, third):
            assert (await answer(each[0])).status == 200


class NarrowConnection(StrictConnection):
    """Of an answer the system takes little at once, so that the rest waits in the process."""

    def connection_made(self, transport: Any) -> None:
        narrowed = transport.get_extra_info("socket")
        narrowed.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        super().connection_made(transport)


class CrowdedConnection(NarrowConnection):
    """There is room for two answers of the size of `ASSET` that nobody reads."""

    limits = ConnectionLimits(max_unread_bytes_of_one_host=4 * 2**20)


class FullConnection(NarrowConnection):
    """`ASSET` is larger than all that one host may leave unread."""

    limits = ConnectionLimits(max_unread_bytes_of_one_host=2**19)


ASSET = b"GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\n" + HOST + b"\r\n"


async def slow_reader(socket_site: str, request: bytes) -> tuple[socket.socket, bytes]:
    """A client that has read the first bytes of an answer, and no more."""
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(slow, ("127.0.0.1", int(socket_site.rpartition(":")[2])))
    await loop.sock_sendall(slow, request)
    return slow, await loop.sock_recv(slow, 1000)


async def rest(slow: socket.socket) -> int:
    """How many bytes come until the end of the connection."""
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
    received = 0
    with suppress(ConnectionResetError):
        while piece := await asyncio.get_running_loop().sock_recv(slow, 2**20):
            received += len(piece)
    return received


@pytest.mark.parametrize("connection", [CrowdedConnection])
async def test_answers_that_nobody_reads_take_limited_memory(socket_site: str) -> None:
    leaving = ASSET[:-2] + b"connection: close\r\n\r\n"
    readers = [await slow_reader(socket_site, leaving) for _ in range(2)]
    (late, _) = await slow_reader(socket_site, leaving)
    assert await rest(late) < 2**20
    whole = [await rest(slow) for slow, _ in readers]
    assert min(whole) > 2**20
    # What they have read has room for others again.
    (again, _) = await slow_reader(socket_site, leaving)
    assert await rest(again) in whole
    for slow in (late, again, *(each for each, _ in readers)):
        slow.close()


@pytest.mark.parametrize("connection", [FullConnection])
async def test_the_only_answer_of_a_host_has_room_however_large(socket_site: str) -> None:
    leaving = ASSET[:-2] + b"connection: close\r\n\r\n"
    slow, _ = await slow_reader(socket_site, leaving)
    (other, _) = await slow_reader(socket_site, leaving)
    assert await rest(other) < 2**20
    assert await rest(slow) > 2**20
    for each in (slow, other):
        each.close()


@pytest.mark.parametrize("connection", [NarrowConnection])
async def test_an_answer_on_its_way_keeps_its_connection(socket_site: str) -> None:
    slow, begin = await slow_reader(socket_site, ASSET)
    loop = asyncio.get_running_loop()
    async with connected(socket_site) as second, connected(socket_site) as third:
        for each in (second, third):
            each[1].write(ALIVE)
            assert (await answer(each[0])).status == 200
        assert (await answers(socket_site, LEAVE))[0].status == 200
        assert await answers_left(second[0]) == []
    head, _, body = begin.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    received = len(body)
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
    while received < size:
        piece = await loop.sock_recv(slow, 2**20)
        assert piece, "the answer was cut"
        received += len(piece)
    slow.close()
    assert received == size


async def test_a_request_line_that_arrives_at_once_is_measured_too(socket_site: str) -> None:
    target = b"GET /%b?%b HTTP/1.1\r\n" % (b"a" * 20_000, b"b" * 20_000)
    assert (await answers(socket_site, target + HOST + b"connection: close\r\n\r\n"))[
        0
    ].status == 431


async def test_what_is_no_http_is_refused_as_a_problem(socket_site: str) -> None:
    (refused,) = await answers(socket_site, b"GARBAGE\r\n\r\n")
    assert refused.status == 400
    assert refused.problem["detail"] == "The request is not well-formed."
    assert refused.problem["request_id"] == refused.headers["x-request-id"]
    assert refused.headers["x-content-type-options"] == "nosniff"
    assert refused.headers["cache-control"] == "no-store"


@HASTY
async def test_a_connection_that_stays_silent_is_closed(socket_site: str) -> None:
    assert await answers(socket_site) == []


@HASTY
@pytest.mark.parametrize("served_before", [0, 1])
async def test_half_a_head_is_cut_off_at_the_deadline(socket_site: str, served_before: int) -> None:
    async with connected(socket_site) as (reader, writer):
        for _ in range(served_before):
            writer.write(ALIVE)
            await answer(reader)
        writer.write(START + HOST)
        (refused,) = await answers_left(reader)
    assert refused.status == 408
    assert refused.problem["retryable"] is True
    assert refused.headers["connection"] == "close"


@HASTY
async def test_dripping_the_rest_of_a_refused_body_holds_no_connection(socket_site: str) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(START + HOST + JSON + b"content-length: 4000\r\n\r\n{")
        assert (await answer(reader)).status == 401
        left = asyncio.ensure_future(reader.read())
        while not left.done():
            writer.write(b" ")
            await asyncio.sleep(0)


@HASTY
async def test_a_call_may_take_longer_than_a_head(site: Any, socket_site: str) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(WHOLE.replace(b"greet", b"wait"))
        await site.handlers.entered.wait()
        for _ in range(2):  # each takes one deadline
            assert await answers(socket_site) == []
        site.handlers.release.set()
        assert (await answer(reader)).status == 200


async def test_the_connection_that_was_idle_for_longest_makes_room(socket_site: str) -> None:
    async with (
        connected(socket_site) as first,
        connected(socket_site) as second,
        connected(socket_site) as third,
    ):
        for each in (second, third, first):
            each[1].write(ALIVE)
            assert (await answer(each[0])).status == 200
        assert (await answers(socket_site, LEAVE))[0].status == 200
        assert await answers_left(second[0]) == []
        first[1].write(ALIVE)
        assert (await answer(first[0])).status == 200


async def test_one_connection_too_many_is_turned_away_where_none_is_idle(
    site: Any, socket_site: str
) -> None:
    async with (
        connected(socket_site) as first,
        connected(socket_site) as second,
        connected(socket_site) as third,
    ):
        for each in (first, second, third):
            each[1].write(WHOLE.replace(b"greet", b"wait"))
            await site.handlers.entered.wait()
            site.handlers.entered.clear()
        (refused,) = await answers(socket_site)
        assert refused.status == 429
        assert refused.headers["retry-after"] == "1"
        site.handlers.release.set()
        for each in (first, second, third):
            assert (await answer(each[0])).status == 200


async def test_requests_in_one_go_are_answered_in_turn(socket_site: str) -> None:
    found = await answers(socket_site, ALIVE + WHOLE + ALIVE + LEAVE)
    assert [each.status for each in found] == [200] * 4
    assert b"Hello Ada" in found[1].body


async def test_a_flood_of_requests_in_one_go_is_not_queued(socket_site: str) -> None:
    found = await answers(socket_site, ALIVE * 1000)
    assert [each.status for each in found] == [200] * 6


async def test_garbage_behind_a_call_leaves_its_answer_whole(socket_site: str) -> None:
    (only,) = await answers(socket_site, WHOLE + b"GARBAGE\r\n\r\n")
    assert only.status == 200
    assert b"Hello Ada" in only.body


@pytest.mark.parametrize("smuggled", [KEY, KEY + b"x-request-id: mine\r\n"])
async def test_trailers_are_no_headers(socket_site: str, smuggled: bytes) -> None:
    body = b"\r\nf\r\n%b\r\n0\r\n%b\r\n" % (BODY, smuggled)
    refused, _ = await answers(socket_site, CHUNKED + body + LEAVE)
    assert refused.status == 401
    assert refused.headers["x-request-id"] != "mine"


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
async def test_an_upgrade_is_ignored_and_the_body_read(
    socket_site: str, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    """As Java's client asks for HTTP/2 with each of its first requests."""
    asking = WHOLE.replace(b"\r\n\r\n", b"\r\n" + H2C + b"\r\n") * 2
    places = {0: [], 1: [30], 2: [asking.index(b"\r\n\r\n") + 4], 3: [asking.index(BODY) + 3]}
    edges = [0, *places[cut], len(asking)]
    parts = [asking[start:end] for start, end in pairwise(edges)]
    found = await answers(socket_site, *parts, LEAVE)
    assert [each.status for each in found] == [200] * 3
    assert b"Hello Ada" in found[0].body
    assert b"Hello Ada" in found[1].body
    assert caplog.text == ""


async def test_a_websocket_is_answered_as_the_request_that_it_is(
    socket_site: str, caplog: pytest.LogCaptureFixture
) -> None:
    refused, alive = await answers(socket_site, WEBSOCKET + LEAVE)
    assert refused.status == 405
    assert alive.status == 200
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (WHOLE.replace(b"/v1", b"http://gateway.test/v1", 1), 200),
        (WHOLE.replace(b"/v1", b"http://evil.example/v1", 1), 421),
        (WHOLE.replace(b"/v1", b"http://gateway.test@evil.example/v1", 1), 421),
        (WHOLE.replace(b"/v1", b"http://gateway.test/v1", 1).replace(HOST, b""), 400),
        (WHOLE.replace(b"/v1", b"ftp://gateway.test/v1", 1), 400),
        (b"GET http://gateway.test HTTP/1.1\r\n" + HOST + b"\r\n", 200),
        (b"GET http://gateway.test?a=/b HTTP/1.1\r\n" + HOST + b"\r\n", 200),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"CONNECT gateway.test:443 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (CHUNKED.replace(b"chunked", b"gzip, chunked") + KEY + b"\r\n0\r\n\r\n", 400),
        (
            CHUNKED.replace(b"chunked", b"Chunked") + KEY + b"\r\nf\r\n" + BODY + b"\r\n0\r\n\r\n",
            200,
        ),
    ],
)
async def test_targets_and_codings_are_read_as_http_asks_for(
    socket_site: str, request_bytes: bytes, status: int
) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(request_bytes)
        first = await answer(reader)
    assert first.status == status
    if status != 200:
        assert first.problem["status"] == status


@pytest.mark.parametrize("path", [b"/", b"/healthz", b"/readyz", b"/docs", b"/openapi.json"])
async def test_head_is_get_without_the_body(socket_site: str, path: bytes) -> None:
    async with connected(socket_site) as (reader, writer):
        writer.write(b"GET %b HTTP/1.1\r\n%b\r\n" % (path, HOST))
        whole = await answer(reader)
        writer.write(b"HEAD %b HTTP/1.1\r\n%bconnection: close\r\n\r\n" % (path, HOST))
        head = await asyncio.wait_for(reader.read(), PATIENCE_SECONDS)
    assert head.startswith(b"HTTP/1.1 200 ")
    assert head.endswith(b"\r\n\r\n")
    assert b"\r\ncontent-length: %d\r\n" % len(whole.body) in head


class Contracts:
    """Stands for what serves a request, and is replaced by a reload."""


async def test_a_connection_that_waits_keeps_nothing_of_what_served_it() -> None:
    kept: list[weakref.ref[Any]] = []

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        contracts = scope["state"]["contracts"] = Contracts()

        async def answer_with(scope: Any, receive: Any, send: Any) -> None:
            await respond(send, 200, str(contracts).encode())

        edge = Edge(answer_with, EdgeRules(hosts=HostRules(["gateway.test"])))
        kept.extend([weakref.ref(contracts), weakref.ref(edge)])
        await edge(scope, receive, send)

    async def is_free() -> bool | None:
        gc.collect()
        return all(each() is None for each in kept) or None

    async with served(serve, StrictConnection) as url, connected(url) as (reader, writer):
        for request in (ALIVE, WHOLE, ALIVE):
            writer.write(request)
            assert (await answer(reader)).status == 200
        assert await eventually(is_free)
    assert len(kept) == 6
