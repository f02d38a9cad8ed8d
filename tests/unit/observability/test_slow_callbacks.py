"""Metrics of several processes, and callbacks of the event loop that are reported."""

import asyncio
import logging
import socket
import time
from pathlib import Path

import pytest
import uvloop
from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import GatewayMetrics, ProcessFiles, Reading
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


def metrics(folder: Path, number: int, group: str = "77") -> GatewayMetrics:
    found = GatewayMetrics("1")
    found.together = ProcessFiles(folder, group, number)
    return found


def readings(waiting: float, jobs: float) -> list[Reading]:
    return [
        Reading(name="gateway_waiting", help="Waiting.", values=[((), waiting)]),
        Reading(name="gateway_jobs", help="Jobs.", values=[((), jobs)], is_common=True),
    ]


def samples(text: bytes, name: str) -> dict[str, float]:
    """The values of a metric that a scraper reads, by process."""
    families = list(text_string_to_metric_families(text.decode()))
    names = [each.name for each in families]
    assert len(names) == len({*names})
    return {
        each.labels.get("process", ""): each.value
        for family in families
        for each in family.samples
        if each.name == name
    }


def test_the_answer_has_the_series_of_all_and_common_ones_once(tmp_path: Path) -> None:
    one, two = metrics(tmp_path, 0), metrics(tmp_path, 1)
    metrics(tmp_path, 0, "78").share(readings(9, 9))
    for each, calls in ((one, 1), (two, 3)):
        for _ in range(calls):
            each.calls.of_operation("a.b", 'o"k}', 0.002)
    one.share(readings(1, 10))
    two.share(readings(2, 20))
    one.calls.of_operation("a.b", 'o"k}', 0.002)

    text = one.text(readings(4, 11))

    assert samples(text, "gateway_calls_total") == {"0": 2, "1": 3}
    assert samples(text, "gateway_call_duration_seconds_count") == {"0": 2, "1": 3}
    assert samples(text, "gateway_waiting") == {"0": 4, "1": 2}
    assert samples(text, "gateway_jobs") == {"": 11}
    assert samples(two.text(readings(2, 21)), "gateway_calls_total") == {"0": 1, "1": 3}


def test_a_folder_that_cannot_be_written_leaves_the_own_metrics(tmp_path: Path) -> None:
    alone = metrics(tmp_path / "missing", 0)
    alone.share(readings(1, 1))
    assert samples(alone.text(readings(5, 1)), "gateway_waiting") == {"0": 5}
