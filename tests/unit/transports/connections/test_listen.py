"""Serving until asked to stop, in this process."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Struct

from gateway.transports.connections import listen
from gateway.transports.connections.listen import ConnectionCounts, StopPlan, Turn, bind, serve_http
from gateway.transports.http.asgi import read_body, respond
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from tests.eventually import PATIENCE_SECONDS

REQUEST = b"POST /v1/example/greet HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}"


PLAN = StopPlan()


class Serving(Struct):
    """A server in this process, and the application behind it."""

    task: asyncio.Task[None]
    port: int
    application: "Application"


class Application:
    """Answers when released; knows how its life went."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.is_closed = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self.is_closed = True
            await send({"type": "lifespan.shutdown.complete"})
            return
        await read_body(receive)
        self.entered.set()
        await self.release.wait()
        await respond(send, 200, b"{}")


@asynccontextmanager
async def serving(plan: StopPlan = PLAN) -> AsyncIterator[Serving]:
    """A server that is ready."""
    ready = asyncio.Event()
    application = Application()
    edge = Edge(application, EdgeRules(hosts=HostRules(["localhost"])))
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    task = asyncio.create_task(serve_http(edge, listener, ready.set, plan))
    await asyncio.wait_for(ready.wait(), PATIENCE_SECONDS)
    yield Serving(task, port, application)
    await asyncio.wait_for(task, PATIENCE_SECONDS)


async def answer_to_a_call(serving: Serving, stop: Callable[[], Any]) -> tuple[int, Any]:
    """Status and body of the answer to a call that is under way when `stop` is called."""
    reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
    writer.write(REQUEST)
    await serving.application.entered.wait()
    stop()
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_SECONDS)
    (length,) = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
    body = await asyncio.wait_for(
        reader.readexactly(int(length.partition(b":")[2])), PATIENCE_SECONDS
    )
    writer.close()
    return int(head.split(b" ")[1]), json.loads(body)


def stop_by(number: int) -> None:
    """Send this process a signal, as the system or a terminal would."""
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_call_under_way_is_answered_before_a_signal_ends_the_server(number: int) -> None:
    async with serving() as server:

        def stop() -> None:
            stop_by(number)
            server.application.release.set()

        assert await answer_to_a_call(server, stop) == (200, {})
    assert server.application.is_closed


async def test_a_hangup_that_nohup_ignores_is_ignored_here_too() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        async with serving() as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(REQUEST)
            await server.application.entered.wait()
            stop_by(signal.SIGHUP)
            # An interpreter sees signals between two of its steps.
            for _ in range(100):
                await asyncio.sleep(0)
            server.application.release.set()
            head = await reader.readuntil(b"\r\n\r\n")
            writer.close()
            assert b"connection: close" not in head.lower()
            stop_by(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_a_second_signal_does_not_end_what_follows_the_serving() -> None:
    async with serving() as server:
        server.application.release.set()
        stop_by(signal.SIGTERM)
        await server.task
        stop_by(signal.SIGTERM)


async def test_a_call_that_outlasts_the_grace_is_informed_why_it_ends(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen, "ceil", lambda seconds: seconds)  # else it is a second at least
    async with serving(StopPlan(grace_seconds=lambda: 0.05)) as server:
        status, problem = await answer_to_a_call(server, lambda: stop_by(signal.SIGTERM))
    assert (status, problem["code"]) == (503, "STOPPING")
    assert server.application.is_closed
    assert "Traceback" not in caplog.text
    assert "Exception" not in caplog.text


async def test_a_second_interrupt_cuts_the_grace_short_and_closes_the_application(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def stop_twice() -> None:
        stop_by(signal.SIGINT)
        asyncio.get_running_loop().call_later(0.01, stop_by, signal.SIGINT)

    async with serving() as server:
        status, _ = await answer_to_a_call(server, stop_twice)
    assert status == 503
    assert server.application.is_closed
    assert "Traceback" not in caplog.text


async def test_streams_are_asked_to_end_before_the_server_waits_for_them() -> None:
    """Nobody else would: a stream would last as long as the grace."""
    stopping = asyncio.Event()
    async with serving(StopPlan(end_streams=stopping.set)) as server:

        async def end_when_asked() -> None:
            await stopping.wait()
            server.application.release.set()

        ending = asyncio.create_task(end_when_asked())
        answer = await answer_to_a_call(server, lambda: stop_by(signal.SIGTERM))
        await ending
    assert answer == (200, {})


async def test_after_a_first_sigterm_the_server_goes_on_while_others_learn_of_it() -> None:
    announced = asyncio.Event()

    def announce() -> float:
        announced.set()
        return 600.0

    async with serving(StopPlan(announce=announce)) as server:
        server.application.release.set()
        stop_by(signal.SIGTERM)
        await asyncio.wait_for(announced.wait(), PATIENCE_SECONDS)
        assert await answer_to_a_call(server, lambda: None) == (200, {})
        stop_by(signal.SIGTERM)


async def test_an_interrupt_ends_the_server_without_notice() -> None:
    async with serving(StopPlan(announce=lambda: 600.0)):
        stop_by(signal.SIGINT)


@pytest.mark.parametrize("is_closed", [False, True])
async def test_a_hangup_reloads_unless_the_terminal_was_closed(
    is_closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reloaded = asyncio.Event()
    monkeypatch.setattr(listen, "has_terminal", lambda: True)
    async with serving(StopPlan(on_hangup=reloaded.set)) as server:
        server.application.release.set()
        monkeypatch.setattr(listen, "has_terminal", lambda: not is_closed)
        stop_by(signal.SIGHUP)
        if is_closed:
            await asyncio.wait_for(server.task, PATIENCE_SECONDS)
        else:
            await asyncio.wait_for(reloaded.wait(), PATIENCE_SECONDS)
            stop_by(signal.SIGTERM)
    assert reloaded.is_set() is not is_closed


async def test_a_connection_that_no_other_process_takes_is_served() -> None:
    """The other one has fewer connections, but it hangs."""
    counts = ConnectionCounts(2)
    counts.is_busier(1, 0)
    async with serving(StopPlan(turn=Turn(counts, 0))) as server:
        server.application.release.set()
        _, idle = await asyncio.open_connection("127.0.0.1", server.port)
        assert await answer_to_a_call(server, lambda: None) == (200, {})
        assert counts.is_busier(0, 1)
        idle.close()
        stop_by(signal.SIGTERM)
