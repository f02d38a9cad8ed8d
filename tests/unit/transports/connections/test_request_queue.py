"""Calls begin in turn. A burst waits, and a queue that stands refuses what is too much."""

import asyncio
import logging
from functools import partial

import pytest

from gateway.transports.connections.queue import (
    UNLIMITED,
    Flow,
    QueueLimits,
    RequestQueue,
    WaitingCall,
)
from tests.clocks import ManualClock

LIMITS = QueueLimits(at_once=2, burst_seconds=0.010, standing_seconds=0.002)
"""By the first estimate, ten calls may wait in a burst, and two while the queue is standing."""
HOST = "a host"
TOOL = b"/v1/a/tool"


class Site:
    """A queue, its clock, and what became of the calls."""

    def __init__(self, limits: QueueLimits = LIMITS) -> None:
        self.clock = ManualClock()
        self.refusals = 0
        self.begun: list[int] = []
        self.queue = RequestQueue(limits, self._count, self.clock.monotonic)
        self.displaced: list[int] = []
        self._number = 0

    def _count(self) -> None:
        self.refusals += 1

    def arrive(self, count: int = 1, host: str = HOST, tool: bytes = TOOL) -> list[str]:
        """What the queue decides about calls that arrive at the same time."""
        return [self._arrive(Flow(host, tool)) for _ in range(count)]

    def _arrive(self, flow: Flow) -> str:
        number = self._number = self._number + 1
        if self.queue.may_begin():
            self.begun.append(number)
            return "begun"
        call = WaitingCall(
            partial(self.begun.append, number), partial(self.displaced.append, number)
        )
        is_long = self.queue.is_long()
        is_refused = is_long and self.queue.must_refuse(flow.host, lambda: flow.tool)
        assert self.queue.add(flow, call) is not is_refused
        if is_refused:
            self.queue.note_refusal()
        return "refused" if is_refused else "waits"


async def rounds(count: int) -> None:
    """Let the event loop go round."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_calls_that_are_not_too_many_begin_at_once_in_every_round() -> None:
    site = Site()
    for _ in range(20):
        assert site.arrive(2) == ["begun", "begun"]
        await rounds(1)
    assert site.refusals == 0


async def test_a_burst_waits_and_begins_in_its_order() -> None:
    site = Site()
    assert site.arrive(7) == ["begun"] * 2 + ["waits"] * 5
    await rounds(1)
    assert site.begun == [1, 2, 3, 4]
    assert site.arrive() == ["waits"]
    await rounds(10)
    assert site.begun == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_beyond_the_longest_wait_calls_are_refused() -> None:
    site = Site()
    assert site.arrive(20) == ["begun"] * 2 + ["waits"] * 11 + ["refused"] * 7
    assert site.refusals == 7


async def test_a_queue_that_stands_is_shorter() -> None:
    site = Site()
    site.arrive(6)
    site.clock.advance(1)
    assert site.arrive(2) == ["refused"] * 2
    assert site.displaced == []


@pytest.mark.parametrize("another", [Flow("another host", TOOL), Flow(HOST, b"/v1/another/tool")])
async def test_calls_of_another_host_or_tool_begin_in_the_next_turn(another: Flow) -> None:
    site = Site()
    site.arrive(8)
    assert site.arrive(3, another.host, another.tool) == ["waits"] * 3
    await rounds(10)
    assert site.begun == [1, 2, 3, 9, 4, 10, 5, 11, 6, 7, 8]


@pytest.mark.parametrize("another", [Flow("another host", TOOL), Flow(HOST, b"/v1/another/tool")])
async def test_in_a_long_queue_the_one_with_twice_as_many_calls_gives_up_its_newest(
    another: Flow,
) -> None:
    site = Site()
    assert site.arrive(14)[-2:] == ["waits", "refused"]
    assert site.arrive(5, another.host, another.tool) == ["waits"] * 4 + ["refused"]
    assert site.displaced == [13, 12, 11, 10]
    assert site.refusals == 6
    assert site.arrive() == ["refused"]
    await rounds(10)
    assert sorted(site.begun) == [*range(1, 10), *range(15, 19)]


async def test_tools_of_a_host_share_the_turns_of_their_host() -> None:
    site = Site()
    site.arrive(2)
    for number in range(4):
        site.arrive(1, HOST, b"/v1/a/tool-%d" % number)
    site.arrive(3, "another host")
    await rounds(10)
    assert site.begun == [1, 2, 3, 7, 4, 8, 5, 9, 6]


async def test_a_queue_that_was_empty_takes_a_burst_again() -> None:
    site = Site()
    site.arrive(6)
    site.clock.advance(1)
    assert site.arrive() == ["refused"]
    await rounds(10)
    assert site.arrive(6) == ["begun"] * 2 + ["waits"] * 4


async def test_slow_calls_shorten_the_queue() -> None:
    site = Site(QueueLimits(at_once=1, burst_seconds=0.5, standing_seconds=0.5))
    assert "refused" not in site.arrive(100)
    for _ in range(60):
        site.clock.advance(0.04)
        await rounds(1)
    assert site.arrive() == ["refused"]


async def test_a_pause_of_the_process_is_not_taken_for_a_slow_call() -> None:
    site = Site(QueueLimits(at_once=1, burst_seconds=2, standing_seconds=2))
    assert "refused" not in site.arrive(100)
    for seconds in (0.001, 60):
        site.clock.advance(seconds)
        await rounds(1)
    assert site.arrive() == ["waits"]


async def test_an_unlimited_queue_refuses_nothing() -> None:
    site = Site(UNLIMITED)
    site.arrive(10_000)
    site.clock.advance(1000)
    assert "refused" not in site.arrive(100)


async def test_the_operator_is_warned_once_in_ten_seconds_with_the_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    site = Site()
    with caplog.at_level(logging.WARNING):
        site.arrive(20)
        site.clock.advance(11)
        site.arrive(1)
    assert [each.args for each in caplog.records] == [(1,), (7,)]
