"""What calls get that are too many: a refusal at once, and their connection for the next call."""

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.queue import QueueLimits
from tests.adversarial.wire import HOST
from tests.eventually import PATIENCE_SECONDS

KEY = b"authorization: Bearer gw_administrator-0123456789\r\n"
JSON = b"content-type: application/json\r\n"
BODY = b'{"name": "Ada"}'
HEAD = b"POST /v1/example/greet HTTP/1.1\r\n" + HOST + KEY + JSON + b"content-length: 15\r\n\r\n"
CALL = HEAD + BODY
MESSAGE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "example_greet", "arguments": {"name": "Ada"}},
    }
).encode()
MCP = (
    b"POST /mcp HTTP/1.1\r\n" + HOST + KEY + JSON + b"accept: application/json, text/event-stream"
    b"\r\nmcp-protocol-version: 2025-11-25\r\ncontent-length: %d\r\n\r\n" % len(MESSAGE)
) + MESSAGE
CHUNKED = (
    HEAD.replace(b"content-length: 15", b"transfer-encoding: chunked")
    + b"f\r\n"
    + BODY
    + b"\r\n0\r\n\r\n"
)
ALIVE = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"


class CrowdedConnection(Connection):
    """Of the calls that arrive together, one begins, one waits, and the others are refused."""

    limits = ConnectionLimits(
        head_deadline_seconds=PATIENCE_SECONDS,
        stall_seconds=PATIENCE_SECONDS,
        queue=QueueLimits(at_once=1, burst_seconds=0.0, standing_seconds=0.0),
        observe_overload=lambda: refusals.update(["refused"]),
    )


class FairConnection(Connection):
    """Of the calls that arrive together, one begins and three wait, by the first estimate."""

    limits = ConnectionLimits(
        head_deadline_seconds=PATIENCE_SECONDS,
        stall_seconds=PATIENCE_SECONDS,
        queue=QueueLimits(at_once=1, burst_seconds=0.0025, standing_seconds=0.0025),
        observe_overload=lambda: refusals.update(["refused"]),
    )


refusals: Counter[str] = Counter()


@pytest.fixture
def connection() -> type[Connection]:
    refusals.clear()
    return CrowdedConnection


class Clients:
    """Sockets that send without giving the server, in the same thread, time to read."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        self.sockets = sockets

    def send(self, *requests: bytes) -> None:
        """Send each request over its own connection, all before the server reads one."""
        for each, request in zip(self.sockets, requests, strict=False):
            each.sendall(request)

    async def answer(self, number: int) -> tuple[int, dict[str, str], bytes]:
        """The next answer of a connection."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += await self.piece(number)
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        while len(body) < int(headers["content-length"]):
            body += await self.piece(number)
        assert len(body) == int(headers["content-length"]), "bytes after the answer"
        return int(first.split(" ")[1]), headers, body

    async def piece(self, number: int) -> bytes:
        """What arrives next on a connection, which must be open."""
        piece = await asyncio.get_running_loop().sock_recv(self.sockets[number], 65536)
        assert piece, "the connection was closed"
        return piece

    async def statuses(self, count: int) -> list[int]:
        """The status of the next answer of each of the first connections."""
        return [(await self.answer(number))[0] for number in range(count)]


@pytest.fixture
async def clients(socket_site: str) -> AsyncIterator[Clients]:
    parts = urlsplit(socket_site)
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(40)]
        for each in sockets:
            each.setblocking(False)
            await asyncio.get_running_loop().sock_connect(each, (parts.hostname, parts.port))
        found = Clients(sockets)
        # All connections are open when each has answered something.
        for number, each in enumerate(sockets):
            each.sendall(ALIVE)
            await found.answer(number)
        yield found


@pytest.mark.parametrize("call", [CALL, MCP], ids=["rest", "mcp"])
async def test_calls_that_are_too_many_are_refused_and_repeatable(
    clients: Clients, call: bytes
) -> None:
    clients.send(*[call] * 40)
    answers = [await clients.answer(number) for number in range(40)]
    assert Counter(status for status, _, _ in answers) == {200: 2, 429: 38}
    assert refusals["refused"] == 38
    ids = set()
    for status, headers, body in answers:
        if status == 429:
            problem = json.loads(body)
            assert problem["code"] == "RATE_LIMIT_ERROR"
            assert problem["retryable"] is True
            assert headers["retry-after"] == "1"
            assert headers["x-request-id"] == problem["request_id"]
            assert headers["x-content-type-options"] == "nosniff"
            assert re.fullmatch("[0-9a-f]{32}", problem["request_id"])
            assert "connection" not in headers
            ids.add(problem["request_id"])
    assert len(ids) == 38
    for number in range(40):
        clients.sockets[number].sendall(call)
        assert (await clients.answer(number))[0] == 200


async def test_what_is_no_call_is_not_refused(clients: Clients) -> None:
    clients.send(CALL, CALL, CALL, ALIVE, ALIVE)
    assert await clients.statuses(5) == [200, 200, 429, 200, 200]


async def test_pages_begin_in_turn_with_the_calls(clients: Clients) -> None:
    """Strangers who ask for many at once would hold the event loop."""
    page = b"GET /docs HTTP/1.1\r\n" + HOST + b"\r\n"
    clients.send(*[page] * 40)
    assert Counter(await clients.statuses(40)) == {200: 2, 429: 38}


@pytest.mark.parametrize(
    "call",
    [
        CHUNKED,
        b"GET /v1/example/greet?name=Ada HTTP/1.1\r\n" + HOST + KEY + b"\r\n",
        CALL.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: Keep-Alive, x\r\n"),
    ],
    ids=["chunked", "get", "unusual"],
)
async def test_calls_that_must_be_parsed_are_refused_too(clients: Clients, call: bytes) -> None:
    clients.send(CALL, CALL, call)
    assert (await clients.statuses(2)) == [200, 200]
    status, headers, body = await clients.answer(2)
    assert (status, headers["retry-after"]) == (429, "1")
    assert headers["x-request-id"] == json.loads(body)["request_id"]
    assert headers["x-content-type-options"] == "nosniff"
    clients.sockets[2].sendall(CALL)
    assert (await clients.answer(2))[0] == 200


@pytest.mark.parametrize("first", [b"", BODY[:5]])
async def test_the_rest_of_a_refused_body_is_not_taken_for_a_request(
    clients: Clients, first: bytes
) -> None:
    clients.send(CALL, CALL, HEAD + first)
    assert await clients.statuses(3) == [200, 200, 429]
    clients.sockets[2].sendall(BODY[len(first) :] + CALL)
    assert (await clients.answer(2))[0] == 200


async def test_pipelined_calls_are_answered_in_their_order(clients: Clients) -> None:
    clients.send(CALL, CALL, CALL + ALIVE)
    assert await clients.statuses(2) == [200, 200]
    received = b""
    while received.count(b"HTTP/1.1 ") < 2 or not received.endswith(b"}"):
        received += await clients.piece(2)
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"429", b"200"]


async def test_a_body_that_looks_like_a_call_is_a_body(clients: Clients) -> None:
    """A request that has begun is read on, whatever its next bytes are."""
    hidden = (
        b"POST /webhooks/nobody HTTP/1.1\r\n" + HOST + b"content-length: %d\r\n\r\n" % len(CALL)
    )
    clients.sockets[2].sendall(hidden)
    # What arrives later is answered: its head has been read.
    clients.sockets[3].sendall(ALIVE)
    assert (await clients.answer(3))[0] == 200
    clients.send(CALL, CALL, CALL)
    assert (await clients.statuses(2)) == [200, 200]
    assert (await clients.answer(2))[0] == 404
    assert refusals["refused"] == 0


async def test_a_client_that_leaves_while_its_call_waits_stops_no_other(clients: Clients) -> None:
    clients.send(CALL, CALL, CALL)
    clients.sockets[1].close()
    assert (await clients.answer(0))[0] == 200
    assert (await clients.answer(2))[0] == 429
    clients.sockets[3].sendall(CALL)
    assert (await clients.answer(3))[0] == 200


class TestFairness:
    """A queue with three calls is long."""

    @pytest.fixture
    def connection(self) -> type[Connection]:
        refusals.clear()
        return FairConnection

    @pytest.mark.parametrize(
        "other",
        [MCP, CHUNKED.replace(b"/v1/example/greet", b"/v1/example/other")],
        ids=["unparsed", "parsed"],
    )
    async def test_many_calls_of_a_tool_leave_a_place_to_another_tool(
        self, clients: Clients, other: bytes
    ) -> None:
        clients.send(*[CALL] * 9, other)
        answers = await clients.statuses(10)
        assert answers[:9] == [200] * 3 + [429] * 6
        assert answers[9] in {200, 404}
        assert refusals["refused"] == 6

    async def test_tools_are_told_apart_by_the_header_of_mcp(self, clients: Clients) -> None:
        named = MCP.replace(b"\r\nmcp-protocol", b"\r\nMcp-Name: example_greet\r\nmcp-protocol")
        clients.send(*[named] * 9, named.replace(b"Name: example_greet", b"Name: other"))
        answers = await clients.statuses(10)
        assert answers[3:9] == [429] * 6
        assert 429 not in answers[:3] + answers[9:]

    async def test_a_call_that_gave_up_its_place_keeps_its_connection(
        self, clients: Clients
    ) -> None:
        clients.send(*[CALL] * 4, MCP)
        status, headers, body = await clients.answer(3)
        assert (status, headers["retry-after"]) == (429, "1")
        assert headers["x-request-id"] == json.loads(body)["request_id"]
        clients.sockets[3].sendall(CALL)
        assert (await clients.answer(3))[0] == 200

    async def test_who_left_gets_no_answer_when_it_gives_up_its_place(
        self, clients: Clients
    ) -> None:
        clients.send(*[CALL] * 4)
        clients.sockets[3].close()
        clients.sockets[4].sendall(MCP)
        assert await clients.statuses(3) == [200] * 3
        assert (await clients.answer(4))[0] == 200
