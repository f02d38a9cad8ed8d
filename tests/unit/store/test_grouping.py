"""The core of group commit, which webhooks, outcomes of jobs and audit records share."""

import asyncio

import pytest

from gateway.errors import StoreError
from gateway.store.grouping import GroupWriter, Ticket
from gateway.store.protocols import StoreRefused
from tests.eventually import PATIENCE_SECONDS


class Recorder:
    """A sink that says what became of whom."""

    def __init__(self, most=10, keeps=False):
        self.most = most
        self.keeps = keeps
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()
        self.errors = {}
        """By entry: what a group that holds it raises."""
        self.groups = []
        self.written = []
        self.refusals = {}
        self.outages = []
        self.away = asyncio.Event()

    def group_size(self, waiting):
        return min(self.most, len(waiting))

    async def commit(self, group):
        self.groups.append([entry.request for entry in group])
        self.entered.set()
        await self.gate.wait()
        for entry in group:
            if entry.request in self.errors:
                raise self.errors[entry.request]
        for entry in group:
            entry.give(entry.request * 10)

    def committed(self, group):
        self.written += [entry.request for entry in group]

    async def refused(self, entry, error):
        self.refusals[entry.request] = error
        entry.refuse(error)

    def unavailable(self, group, error):
        self.outages.append([entry.request for entry in group])
        self.away.set()
        if not self.keeps:
            for entry in group:
                entry.refuse(StoreError(error.detail))
        return self.keeps


def writer_of(sink, numbers, gather=None):
    writer = GroupWriter(sink, "test", gather)
    tickets = [Ticket(number) for number in numbers]
    for ticket in tickets:
        writer.add(ticket)
    return writer, tickets


async def answers(tickets):
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await asyncio.gather(*(each.answer() for each in tickets), return_exceptions=True)


async def test_what_comes_during_a_write_shares_the_next_one_in_order():
    sink = Recorder(most=3)
    sink.gate.clear()
    writer, tickets = writer_of(sink, [1])
    await sink.entered.wait()
    more = [Ticket(number) for number in range(2, 7)]
    for each in more:
        assert writer.add(each) is None
    assert (len(writer.held), writer.waiting) == (6, 5)
    sink.gate.set()
    assert await answers([*tickets, *more]) == [10, 20, 30, 40, 50, 60]
    assert sink.groups == [[1], [2, 3, 4], [5, 6]]
    assert (len(writer.held), writer.waiting) == (0, 0)


async def test_the_task_ends_with_the_entries_and_the_next_one_begins_another():
    sink = Recorder()
    writer, tickets = writer_of(sink, [1])
    assert await answers(tickets) == [10]
    await asyncio.sleep(0)
    assert writer.add(Ticket(2)) is not None


@pytest.mark.parametrize("error", [StoreRefused("its text"), ZeroDivisionError()])
async def test_one_that_fails_in_a_group_takes_no_other_one_with_it(error):
    sink = Recorder()
    sink.errors = {2: error}
    writer, tickets = writer_of(sink, [1, 2, 3])
    assert await answers(tickets) == [10, error, 30]
    assert sink.groups == [[1, 2, 3], [1], [2], [3]]
    assert sink.written == [1, 3]
    assert sink.refusals == {2: error}
    assert len(writer.held) == 0


async def test_a_store_that_goes_away_meanwhile_is_asked_no_more():
    sink = Recorder()
    sink.errors = {1: StoreRefused("its text"), 2: StoreError("away")}
    _, tickets = writer_of(sink, [1, 2, 3, 4])
    found = await answers(tickets)
    assert sink.groups == [[1, 2, 3, 4], [1], [2]]
    assert sink.outages == [[2, 3, 4]]
    assert len({id(error) for error in found}) == 4


async def test_entries_that_wait_for_the_store_are_written_later_in_order():
    sink = Recorder(keeps=True)
    sink.errors = {2: StoreError("away")}
    writer, tickets = writer_of(sink, [1, 2, 3], gather=lambda: asyncio.sleep(0))
    await sink.away.wait()
    assert len(writer.held) == 3
    sink.errors = {}
    assert await answers(tickets) == [10, 20, 30]
    assert sink.written == [1, 2, 3]


async def test_a_waiter_who_leaves_stops_nobody_and_nothing():
    sink = Recorder()
    sink.gate.clear()
    writer, tickets = writer_of(sink, [1, 2, 3])
    waits = [asyncio.create_task(each.answer()) for each in tickets]
    await sink.entered.wait()
    waits[1].cancel()
    await asyncio.sleep(0)
    assert not tickets[1].is_open
    sink.gate.set()
    found = await asyncio.gather(*waits, return_exceptions=True)
    assert [found[0], type(found[1]), found[2]] == [10, asyncio.CancelledError, 30]
    assert sink.written == [1, 2, 3]
    assert len(writer.held) == 0


async def test_closing_writes_what_waits():
    sink = Recorder(most=1)
    writer, tickets = writer_of(sink, [1, 2, 3])
    assert await writer.close(5) == []
    assert await answers(tickets) == [10, 20, 30]


async def test_closing_while_a_write_hangs_hands_back_what_is_not_known_to_be_written():
    sink = Recorder(most=2)
    sink.gate.clear()
    writer, tickets = writer_of(sink, [1, 2, 3])
    await sink.entered.wait()
    assert await writer.close(0.01) == tickets
    assert sink.written == []
    assert all(each.is_open for each in tickets)


async def test_a_sink_that_breaks_loses_nothing():
    """A defect ends the task, not the entries: the next one begins another task."""
    sink = Recorder()
    sink.errors = {1: ZeroDivisionError()}

    async def _refused(_entry, error):
        raise error

    sink.refused = _refused
    writer = GroupWriter(sink, "test")
    begun = writer.add(Ticket(1))
    await asyncio.wait([begun])
    assert isinstance(begun.exception(), ZeroDivisionError)
    assert len(writer.held) == 1
    sink.errors = {}
    last = Ticket(2)
    assert writer.add(last) is not None
    assert await answers([last]) == [20]
    assert sink.written == [1, 2]


async def test_each_group_waits_for_what_gathers():
    sink = Recorder()
    gathered = asyncio.Event()
    writer = GroupWriter(sink, "test", gathered.wait)
    tickets = [Ticket(1), Ticket(2)]
    writer.add(tickets[0])
    await asyncio.sleep(0)
    writer.add(tickets[1])
    assert sink.groups == []
    gathered.set()
    assert await answers(tickets) == [10, 20]
    assert sink.groups == [[1, 2]]


async def test_a_write_that_is_cut_off_from_inside_leaves_nobody_waiting():
    sink = Recorder()
    sink.errors = {1: asyncio.CancelledError()}
    writer, tickets = writer_of(sink, [1, 2])
    found = await answers(tickets)
    assert [type(error) for error in found] == [StoreError, StoreError]
    assert len(writer.held) == 0
    late = Ticket(3)
    writer.add(late)
    assert await answers([late]) == [30]


async def test_entries_that_arrive_during_a_cancelled_write_are_written():
    sink = Recorder()
    sink.gate.clear()
    sink.errors = {1: asyncio.CancelledError()}
    writer, [cancelled] = writer_of(sink, [1])
    await sink.entered.wait()
    late = Ticket(2)
    writer.add(late)
    sink.gate.set()
    error, answer = await answers([cancelled, late])
    assert (type(error), answer) == (StoreError, 20)


async def test_a_sink_that_keeps_entries_gets_them_again_after_a_cancelled_write():
    sink = Recorder(keeps=True)
    sink.errors = {1: asyncio.CancelledError()}
    writer, tickets = writer_of(sink, [1, 2], gather=lambda: asyncio.sleep(0))
    await sink.away.wait()
    assert len(writer.held) == 2
    sink.errors = {}
    assert await answers(tickets) == [10, 20]


async def test_a_write_task_that_is_cancelled_ends_and_answers_its_group():
    """The event loop cancels all tasks when the program ends, and no new one may start then."""
    sink = Recorder(most=1)
    sink.gate.clear()
    writer = GroupWriter(sink, "test")
    first, second = Ticket(1), Ticket(2)
    task = writer.add(first)
    writer.add(second)
    await sink.entered.wait()
    task.cancel()
    await asyncio.wait([task])
    [error] = await answers([first])
    assert isinstance(error, StoreError)
    assert list(writer.held) == [second]
