"""Which callbacks of the event loop are reported, and what a report holds."""

import asyncio
import logging
import socket
import time

import pytest
import uvloop

from gateway.observability.slow_callbacks import WatchedLoop, loop_factory
from tests.eventually import PATIENCE_SECONDS

CANARY = "canary-5e1"
NEVER = 3600.0


@pytest.fixture
def loop():
    """A loop to whose limit nothing comes, except what waits until it was looked at."""
    with asyncio.Runner(loop_factory=loop_factory(0.001)) as runner:
        yield runner.get_loop()


def slow(loop, value=CANARY):
    """Run until the stack was found, as a callback that takes too long does."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not loop._running.stack:
        assert value == CANARY
        assert time.monotonic() < until


def reports(caplog):
    """The reports of `slow`. The machine may have been slow elsewhere, which is reported too."""
    found = [each for each in caplog.records if getattr(each, "stack", None)]
    return [each for each in found if each.stack[0].endswith(" slow")]


async def task(loop):
    await asyncio.sleep(0)
    slow(loop)


async def timer(loop):
    ended = loop.create_future()
    loop.call_later(0, lambda: (slow(loop), ended.set_result(None)))
    await ended


async def thread(loop):
    ended = loop.create_future()
    await asyncio.to_thread(loop.call_soon_threadsafe, lambda: (slow(loop), ended.set_result(None)))
    await ended


async def reader(loop):
    ended = loop.create_future()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        loop.add_reader(
            ours, lambda: (slow(loop), ended.set_result(None), loop.remove_reader(ours))
        )
        theirs.send(b"x")
        await ended
        loop.remove_reader(ours)


async def writer(loop):
    ended = loop.create_future()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        loop.add_writer(
            ours, lambda: (slow(loop), ended.set_result(None), loop.remove_writer(ours))
        )
        await ended
        loop.remove_writer(ours)


class Receiver(asyncio.Protocol):
    def __init__(self, loop):
        self.loop, self.ended = loop, loop.create_future()

    def data_received(self, data):
        slow(self.loop)
        self.ended.set_result(data)


async def accepted(loop):
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        _, made = await loop.connect_accepted_socket(lambda: Receiver(loop), ours)
        theirs.send(b"x")
        await made.ended


async def connected(loop):
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        _, made = await loop.create_connection(lambda: Receiver(loop), sock=ours)
        theirs.send(b"x")
        await made.ended


@pytest.mark.parametrize("work", [task, timer, thread, reader, writer, accepted, connected])
def test_a_slow_callback_of_any_kind_is_reported_with_its_stack(loop, caplog, work):
    loop.run_until_complete(work(loop))
    [found] = reports(caplog)
    assert found.levelno == logging.WARNING
    assert found.ms > 1
    assert found.cpu_ms <= found.ms + 1
    assert found.stack[0].startswith(f"{__name__}:")
    assert found.stack[0].endswith(" slow")
    assert all(line.split(":")[0] == __name__ for line in found.stack), "only of the callback"
    assert CANARY not in str(vars(found))


def test_a_deep_stack_is_cut(loop, caplog):
    def deep(left):
        slow(loop) if left == 0 else deep(left - 1)

    async def work():
        deep(500)

    loop.run_until_complete(work())
    [found] = reports(caplog)
    assert len(found.stack) == 40
    assert found.stack[0].endswith(" slow")


def test_what_is_within_the_limit_is_not_reported(caplog):
    async def work():
        await asyncio.to_thread(time.monotonic)
        await asyncio.sleep(0.001)

    with asyncio.Runner(loop_factory=lambda: WatchedLoop(NEVER)) as runner:
        runner.run(work())
    assert caplog.records == []


def test_an_exception_of_a_callback_passes(loop):
    async def work():
        raise KeyError(CANARY)

    with pytest.raises(KeyError, match=CANARY):
        loop.run_until_complete(work())


def test_without_a_limit_nothing_is_watched():
    assert loop_factory(0) is uvloop.new_event_loop
