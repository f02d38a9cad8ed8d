"""Upstreams that misbehave."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from gateway.backends.http.live import LiveBackend
from gateway.backends.http.outbound import NoAnswer, Outbound
from gateway.backends.oauth import HttpTokenWire
from gateway.calls.replies import ReplyReader
from gateway.calls.sending import Sending, UpstreamConnection
from gateway.contract.operation import Attempts, Effect
from gateway.contract.upstream import Upstream, UpstreamOperation, UpstreamRequest
from gateway.errors import UpstreamUnavailable
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS

GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


@asynccontextmanager
async def dropping(good: int, *, is_reset: bool) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers `good` requests and reads the next ones only to hang up.

    Yields its URL and the request lines that it has read.
    """
    seen: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.partition("content-length: ")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                seen.append(head.partition(" http/1.1")[0].upper())
                if len(seen) > good:
                    break
                writer.write(GOOD)
                await writer.drain()
        if is_reset:
            writer.transport.abort()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen


@asynccontextmanager
async def to_shop(url: str, clock: ManualClock) -> AsyncIterator[LiveBackend]:
    """The way to the shop at `url`."""
    backend = LiveBackend(SHOP, clock, base_url=url, credentials={})
    try:
        yield backend
    finally:
        await backend.close()


def operation(name: str, method: str, **more: Any) -> UpstreamOperation:
    """An operation whose replies are any JSON."""
    return UpstreamOperation(id=name, method=method, path="/items", replies={"200": {}}, **more)


SHOP = Upstream(
    name="shop",
    title="Shop",
    base_url=None,
    operations=(
        operation("look", "GET"),
        operation("order", "POST", request_schema={}),
        operation("pay", "POST", request_schema={}, idempotency_header="Idempotency-Key"),
        operation("set", "PUT", request_schema={}),
        operation("remove", "DELETE"),
    ),
)
KEY = (("idempotency-key", "k"),)
REQUESTS = {
    "look": UpstreamRequest(operation="look", method="GET", path=("items",)),
    "order": UpstreamRequest(operation="order", method="POST", path=("items",), body={}),
    "pay": UpstreamRequest(operation="pay", method="POST", path=("items",), body={}, headers=KEY),
    "set": UpstreamRequest(operation="set", method="PUT", path=("items",), body={}),
    "remove": UpstreamRequest(operation="remove", method="DELETE", path=("items",)),
}


class Promise:
    """Three attempts, with nothing between them."""

    attempts = Attempts(max=3)
    timeout_seconds = PATIENCE_SECONDS


async def at_once(_: float) -> None:
    """Waits for no time between two attempts."""


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("is_warm", [False, True], ids=["new", "kept"])
@pytest.mark.parametrize(
    ("name", "count"), [("look", 3), ("pay", 3), ("order", 1), ("set", 1), ("remove", 1)]
)
@pytest.mark.attack(
    "an upstream reads every request and closes the connection without an answer",
    required="it sees as many requests as the contract promises attempts (one for a write without "
    "an idempotency key), on new and on kept connections: no library repeats one by itself",
)
async def test_connections_dropped_after_each_request(
    name: str, count: int, *, is_warm: bool, is_reset: bool
) -> None:
    clock = ManualClock()
    async with (
        dropping(good=int(is_warm), is_reset=is_reset) as (url, seen),
        to_shop(url, clock) as backend,
    ):
        line = UpstreamConnection(SHOP, backend, ReplyReader(SHOP))
        if is_warm:
            await backend.send(REQUESTS["look"], timeout_seconds=PATIENCE_SECONDS)
        with pytest.raises(UpstreamUnavailable) as failed:
            await Sending(clock, Promise(), Effect.WRITE, at_once).send(line, REQUESTS[name])
    assert len(seen) - is_warm == count, seen
    assert failed.value.is_sent is True


@asynccontextmanager
async def forging(
    taken: asyncio.Event, *, is_together: bool
) -> AsyncIterator[tuple[str, list[asyncio.Event]]]:
    """A server that sends a second reply to the first request of each connection.

    If not `is_together`, it does so when the first one was `taken`.
    Yields its URL and an event for each connection, set when the client has closed it.
    """
    ended: list[asyncio.Event] = []
    forged = GOOD.replace(b"{}", b"[]")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended.append(asyncio.Event())
        done = ended[-1]
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(GOOD + forged if is_together else GOOD)
            await writer.drain()
            if not is_together:
                await taken.wait()
                taken.clear()
            writer.write(forged)
            await writer.drain()
            await reader.read()
        done.set()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", ended


@pytest.mark.parametrize("is_together", [True, False], ids=["with the first", "later"])
@pytest.mark.attack(
    "an upstream sends a second reply to one request",
    required="a reply that has arrived before a request is never taken for its answer: the "
    "connection is closed. HTTP/1.1 cannot tell of one that arrives after it",
)
async def test_replies_without_a_request(*, is_together: bool) -> None:
    taken = asyncio.Event()
    async with (
        forging(taken, is_together=is_together) as (url, ended),
        to_shop(url, ManualClock()) as way,
    ):
        for count in (1, 2):
            reply = await way.send(REQUESTS["look"], timeout_seconds=PATIENCE_SECONDS)
            assert reply.body == b"{}"
            taken.set()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await ended[-1].wait()
            assert len(ended) == count


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
@pytest.mark.attack(
    "an event endpoint or a token endpoint reads a message and closes the connection",
    required="it gets one request; only the delivery's plan or the token source decides whether "
    "another one follows",
)
async def test_endpoints_that_hang_up(*, is_reset: bool) -> None:
    async with dropping(good=0, is_reset=is_reset) as (url, seen):
        outbound = Outbound(lambda *_: None)
        outcome = await outbound.post(f"{url}/hook", {}, b"{}")
        await outbound.close()
        with pytest.raises(UpstreamUnavailable):
            await HttpTokenWire(f"{url}/token").post(b"grant_type=client_credentials")
    assert isinstance(outcome, NoAnswer)
    assert outcome.reason == "broken"
    assert seen == ["POST /HOOK", "POST /TOKEN"]
