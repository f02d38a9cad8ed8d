"""Connections are accepted, held or dropped before anything of them is read."""

import asyncio
import errno
import os
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest
from uvicorn.server import ServerState

from gateway.bounds.addresses import Networks
from gateway.bounds.rates import Rate
from gateway.transports.connections import listen as acceptor
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import Connection
from gateway.transports.connections.listen import bind, serve_http
from gateway.transports.http.asgi import respond
from gateway.transports.http.senders import Peers
from tests.eventually import PATIENCE_SECONDS, eventually

FLOODER = "127.0.0.66"
OTHER = "127.0.0.2"
REQUEST = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
ONE_ONLY = Rate(1e-9, 1)


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answers `/`, and never answers `/slow`."""
    if scope["type"] == "lifespan":
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
    elif scope["path"] == "/slow":
        await receive()
        await receive()
    else:
        await respond(send, 200, b"{}")


@asynccontextmanager
async def serving(
    limits: ConnectionLimits, listener: socket.socket | None = None
) -> AsyncIterator[int]:
    """The port of a server with these limits."""
    ready = asyncio.Event()
    listener = listener or bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    task = asyncio.create_task(serve_http(application, listener, ready.set, limits=limits))
    await ready.wait()
    try:
        yield port
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.wait_for(task, PATIENCE_SECONDS)


@asynccontextmanager
async def sent(
    port: int, host: str, request: bytes = REQUEST
) -> AsyncIterator[asyncio.StreamReader]:
    """What answers `request` on a new connection of `host`."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(host, 0))
    writer.write(request)
    try:
        yield reader
    finally:
        writer.close()


async def status(reader: asyncio.StreamReader) -> str:
    """The status of the answer."""
    return (await asyncio.wait_for(reader.readline(), PATIENCE_SECONDS)).decode()[9:12]


async def test_a_connection_too_many_waits_and_is_refused_and_no_other_host_waits() -> None:
    limits = ConnectionLimits(opened_by_one_host=ONE_ONLY, hold_seconds=600)
    async with serving(limits) as port, AsyncExitStack() as held:
        first = await held.enter_async_context(sent(port, FLOODER))
        assert await status(first) == "200"
        second = await held.enter_async_context(sent(port, FLOODER))
        waiting = asyncio.create_task(second.readline())
        other = await held.enter_async_context(sent(port, OTHER))
        assert await status(other) == "200"
        assert not waiting.done(), "the server has seen it before the other one"
        waiting.cancel()


async def test_it_is_informed_why_and_when_to_come_again() -> None:
    limits = ConnectionLimits(opened_by_one_host=ONE_ONLY, hold_seconds=0.05)
    async with serving(limits) as port, sent(port, FLOODER), sent(port, FLOODER) as second:
        answer = await asyncio.wait_for(second.read(), PATIENCE_SECONDS)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 ")
    assert {b"retry-after: 1", b"connection: close"} <= set(head.lower().split(b"\r\n"))
    assert b"too many connections from this address" in body


async def test_a_host_whose_connections_are_all_busy_gets_no_further_one() -> None:
    limits = ConnectionLimits(max_connections_of_one_host=2, hold_seconds=0.05)
    async with serving(limits) as port, AsyncExitStack() as held:
        for _ in range(2):
            await held.enter_async_context(sent(port, FLOODER, REQUEST.replace(b"/ ", b"/slow ")))
        third = await held.enter_async_context(sent(port, FLOODER))
        assert await status(third) == "429"
        other = await held.enter_async_context(sent(port, OTHER))
        assert await status(other) == "200"


async def test_only_so_many_are_held() -> None:
    limits = ConnectionLimits(opened_by_one_host=ONE_ONLY, hold_seconds=600, max_held=1)
    async with serving(limits) as port, sent(port, FLOODER), sent(port, FLOODER) as held:
        with pytest.raises(ConnectionError):
            async with sent(port, FLOODER) as dropped:
                await asyncio.wait_for(dropped.readexactly(1), PATIENCE_SECONDS)
        assert not held.at_eof()


async def test_what_is_held_is_refused_when_the_server_stops() -> None:
    limits = ConnectionLimits(opened_by_one_host=ONE_ONLY, hold_seconds=600)
    async with AsyncExitStack() as held:
        async with serving(limits) as port:
            await held.enter_async_context(sent(port, FLOODER))
            second = await held.enter_async_context(sent(port, FLOODER))
            # The server has seen it, once it has seen the one after it.
            async with sent(port, OTHER) as other:
                assert await status(other) == "200"
        assert await status(second) == "429"


async def test_a_proxy_of_ours_is_no_host_that_opens_too_many() -> None:
    limits = ConnectionLimits(
        opened_by_one_host=ONE_ONLY, peers=Peers(Networks([ip_network(f"{FLOODER}/32")]))
    )
    async with serving(limits) as port:
        for _ in range(3):
            async with sent(port, FLOODER) as reader:
                assert await status(reader) == "200"


PROXY = Peers(Networks([ip_network(f"{FLOODER}/32")]))


def forwarded(client: str, path: bytes = b"/") -> bytes:
    return b"GET %b HTTP/1.1\r\nhost: localhost\r\nX-Forwarded-For: %b\r\n\r\n" % (
        path,
        client.encode(),
    )


async def test_a_client_of_a_proxy_that_uses_its_connections_waits_and_no_other_does() -> None:
    limits = ConnectionLimits(max_connections_of_one_host=2, hold_seconds=600, peers=PROXY)
    async with serving(limits) as port, AsyncExitStack() as held:
        for _ in range(2):
            await held.enter_async_context(sent(port, FLOODER, forwarded("10.0.0.1", b"/slow")))
        third = await held.enter_async_context(sent(port, FLOODER, forwarded("10.0.0.1")))
        waiting = asyncio.create_task(third.readline())
        other = await held.enter_async_context(sent(port, FLOODER, forwarded("10.0.0.2")))
        assert await status(other) == "200"
        assert not waiting.done(), "the server has seen it before the other one"
        waiting.cancel()


async def test_connections_that_speak_at_once_are_opened_a_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is followed by a request. Many in one pass would stop all calls."""
    loop, number, opened = asyncio.get_running_loop(), 0, Counter[int]()
    all_opened = asyncio.Event()

    def next_pass() -> None:
        nonlocal number
        number += 1
        loop.call_soon(next_pass)

    def count(_acceptor: object, accepted: socket.socket, _client: object) -> None:
        opened[number] += 1
        accepted.close()
        if sum(opened.values()) == 40:
            all_opened.set()

    async with serving(ConnectionLimits(peers=PROXY)) as port:
        monkeypatch.setattr(acceptor.Acceptor, "_open", count)
        lines = [socket.create_connection(("127.0.0.1", port), 10, (FLOODER, 0)) for _ in range(40)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.sleep(0.2)  # they are accepted, and say nothing
            assert not opened
            for line in lines:
                line.sendall(forwarded("10.0.0.1"))
            next_pass()
            await all_opened.wait()
        for line in lines:
            line.close()
        monkeypatch.undo()
    assert max(opened.values()) <= 2


async def test_a_connection_of_a_proxy_is_opened_when_its_first_bytes_come() -> None:
    async with serving(ConnectionLimits(peers=PROXY)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(FLOODER, 0))
        async with sent(port, OTHER) as other:
            assert await status(other) == "200"
        writer.write(forwarded("10.0.0.1"))
        assert await status(reader) == "200"
        writer.close()


@pytest.mark.parametrize(
    "limits",
    [
        ConnectionLimits(peers=PROXY, head_deadline_seconds=0.05),
        ConnectionLimits(peers=PROXY, max_held=1),
    ],
    ids=["for long", "in number"],
)
async def test_a_proxy_keeps_no_silent_connections(limits: ConnectionLimits) -> None:
    async with serving(limits) as port, AsyncExitStack() as open_ones:
        first, second = [
            await open_ones.enter_async_context(sent(port, FLOODER, b"")) for _ in "ab"
        ]
        assert await asyncio.wait_for(first.read(), PATIENCE_SECONDS) == b""
        if limits.max_held == 1:
            assert not second.at_eof()


class Exhausted(socket.socket):
    """A listening socket of a process that may open no more files, the first time."""

    is_full = True

    def accept(self) -> Any:
        if self.is_full:
            self.is_full = False
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_without_a_file_to_spare_connections_wait_until_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(acceptor, "_PAUSE_SECONDS", 0.01)
    with bind("127.0.0.1", 0) as plain:
        listener = Exhausted(fileno=plain.detach())
    async with serving(ConnectionLimits(), listener) as port, sent(port, OTHER) as reader:
        assert await status(reader) == "200"
        assert not listener.is_full


async def test_a_server_that_is_closed_while_it_has_no_file_accepts_nothing_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else it would add a reader for a listener that is closed, or belongs to another."""
    monkeypatch.setattr(acceptor, "_PAUSE_SECONDS", 0.1)
    listened: list[object] = []
    listen = acceptor.Acceptor._listen

    def noted(self: acceptor.Acceptor) -> None:
        listened.append(self)
        listen(self)

    async def look() -> bool | None:
        return None if listener.is_full else True

    monkeypatch.setattr(acceptor.Acceptor, "_listen", noted)
    with bind("127.0.0.1", 0) as plain, Exhausted(fileno=os.dup(plain.fileno())) as listener:
        one = acceptor.Acceptor(listener, asyncio.Protocol, ServerState(), ConnectionLimits())
        async with sent(plain.getsockname()[1], OTHER):
            await eventually(look)
            one.close()
            before = len(listened)
            # Its timer would come first.
            await asyncio.sleep(0.12)
            assert len(listened) == before
        await one.wait_closed()


async def test_the_second_part_of_an_answer_does_not_wait_for_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else each part of a stream would wait for the client to acknowledge the one before: 40 ms."""
    opened: list[int] = []
    made = Connection.connection_made

    def note(self: Connection, transport: Any) -> None:
        accepted = transport.get_extra_info("socket")
        opened.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(self, transport)

    monkeypatch.setattr(Connection, "connection_made", note)
    async with serving(ConnectionLimits()) as port, sent(port, OTHER) as reader:
        assert await status(reader) == "200"
    assert opened == [1]
