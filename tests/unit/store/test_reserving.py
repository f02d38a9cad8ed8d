"""Units of limits that a process takes for several calls at once."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from gateway.errors import StoreError
from gateway.store import reserving
from gateway.store.reserving import ReservedUsage
from gateway.store.sql.store import SqlStore
from gateway.store.usage import SHARE, CounterId, Decision, Demand, LimitKind, Return
from tests.clocks import ManualClock
from tests.eventually import eventually
from tests.work import timed

HOUR = CounterId("golfer", "hour").text
PLACES = CounterId("golfer", "concurrent").text


def hourly(most: int) -> Demand:
    return Demand(counter=HOUR, max=most, kind=LimitKind.WINDOW, seconds=3600)


def daily(most: int, units: int = 1) -> Demand:
    counter = CounterId("golfer", "budget").text
    return Demand(counter=counter, max=most, kind=LimitKind.DAY, seconds=86_400, units=units)


def places(most: int) -> Demand:
    return Demand(counter=PLACES, max=most, kind=LimitKind.LEASE, seconds=40)


class Process:
    """A process that counts calls in a store, and the requests that it needs."""

    def __init__(self, store: SqlStore, clock: ManualClock) -> None:
        self.requests = 0
        self.store = store
        self.usage = ReservedUsage(self, clock)
        self.restored: list[Return] = []
        self.fails = False
        self.failed = 0
        self.is_answered = asyncio.Event()
        self.is_answered.set()
        self.is_restoring = asyncio.Event()
        self.may_restore = asyncio.Event()
        self.may_restore.set()

    async def take(self, demands: Sequence[Demand], holder: str) -> Decision:
        self.requests += 1
        decision = await self.store.usage.take(demands, holder)
        await self.is_answered.wait()
        if self.fails:
            raise StoreError("the answer was lost")
        return decision

    async def restore(self, returns: Sequence[Return]) -> None:
        if self.fails:
            self.failed += 1
            raise StoreError("the database cannot be reached")
        self.is_restoring.set()
        await self.may_restore.wait()
        self.restored += returns
        await self.store.usage.restore(returns)

    async def call(self, *demands: Demand, holder: str = "call") -> bool:
        return not (await self.usage.take(demands, holder)).refused

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store.usage, name)


@pytest.fixture
def returns_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no call uses is returned without the usual pause."""
    monkeypatch.setattr(reserving, "_RETURN_SECONDS", 0)


async def failed(process: Process) -> None:
    """It has tried to return something, in vain."""

    async def look() -> bool | None:
        return process.failed > 0 or None

    await eventually(look)


@pytest.fixture
def clock() -> ManualClock:
    """Within a group of calls, not at its border."""
    clock = ManualClock()
    clock.advance(1)
    return clock


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[SqlStore]:
    opened = await timed("memory:", clock)
    yield opened
    await opened.close()


async def used(store: SqlStore) -> dict[str, int]:
    return {each.counter.limit: each.usage.used for each in await store.usage.readings(9)}


async def test_calls_that_come_often_need_few_requests(store, clock) -> None:
    process = Process(store, clock)

    made = [await process.call(hourly(10**6), daily(10**6, 3)) for _ in range(1000)]

    assert all(made)
    assert process.requests <= 12
    await process.usage.close()
    assert await used(store) == {"hour": 1000, "budget": 3000}


@pytest.mark.parametrize("most", [10, 150])
async def test_several_processes_never_admit_too_many(store, clock, most: int) -> None:
    """And not fewer, if each gives back what it does not use."""
    processes = [Process(store, clock) for _ in range(4)]
    made = 0

    for number in range(most * 2):
        made += await processes[number % 3 or number % 4].call(hourly(most), daily(most))
    for each in processes:
        await each.usage.close()
    last = Process(store, clock)
    while await last.call(hourly(most), daily(most)):
        made += 1

    assert made == most
    assert await used(store) == {"hour": most, "budget": most}


async def test_where_few_are_left_each_call_is_counted_by_itself(store, clock) -> None:
    process = Process(store, clock)

    for number in range(1, 11):
        assert await process.call(daily(10))
        assert await used(store) == {"budget": number}
    assert not await process.call(daily(10))


async def test_a_process_that_dies_makes_the_limit_stricter_by_a_share(store, clock) -> None:
    dead, other = Process(store, clock), Process(store, clock)
    made = [await dead.call(daily(1000)) for _ in range(100)]

    while await other.call(daily(1000)):
        made.append(True)

    assert 1000 * (1 - 1 / SHARE) <= len(made) <= 1000


@pytest.mark.usefixtures("returns_at_once")
async def test_what_no_call_uses_is_given_back(store, clock) -> None:
    process = Process(store, clock)
    for _ in range(2):
        await process.call(hourly(10**6))
    before = await used(store)
    clock.advance(2)

    assert before["hour"] > 2
    assert await eventually(lambda: is_used(store, {"hour": 2}))
    await process.call(hourly(10**6))
    assert await used(store) == {"hour": 3}, "a call that comes alone takes nothing ahead"


async def is_used(store: SqlStore, expected: dict[str, int]) -> bool | None:
    return True if await used(store) == expected else None


async def test_units_are_not_used_after_their_group_has_ended(store, clock) -> None:
    """They would leave the window before it is over."""
    demand = Demand(counter=HOUR, max=200, kind=LimitKind.WINDOW, seconds=60)
    process = Process(store, clock)
    times: list[float] = []
    for _ in range(400):
        clock.advance(0.2)
        if await process.call(demand):
            times.append(clock.seconds)

    most = max(sum(start <= each < start + 60 for each in times) for start in times[::20])
    assert 200 * (1 - 1 / SHARE) <= most <= 200


@pytest.mark.usefixtures("returns_at_once")
async def test_a_cancelled_call_gives_all_back(store, clock) -> None:
    process = Process(store, clock)
    demands = hourly(10**6), places(100)
    asked = [asyncio.create_task(process.call(*demands, holder=f"{n}")) for n in range(9)]
    await asyncio.sleep(0)
    for each in asked:
        each.cancel()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    await store.usage.give_back([PLACES], "nobody")
    clock.advance(2)

    assert all(isinstance(each, asyncio.CancelledError) for each in ended)
    assert await eventually(lambda: is_used(store, {}))


async def test_what_is_given_back_for_a_call_stays_so_when_it_is_cancelled(store, clock) -> None:
    process = Process(store, clock)
    made = await process.usage.take([hourly(1)], "not begun")
    process.usage.undo(made.spent)
    process.may_restore.clear()
    waiting = asyncio.create_task(process.call(hourly(1)))
    await process.is_restoring.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    process.may_restore.set()

    assert waiting.cancelled()
    assert await eventually(lambda: is_used(store, {}))


@pytest.mark.usefixtures("returns_at_once")
async def test_a_place_waits_for_the_next_call(store, clock) -> None:
    process = Process(store, clock)

    for number in range(50):
        assert await process.call(places(100), holder=f"{number}")
        assert process.usage.leave([PLACES], f"{number}")
    assert process.requests == 1
    clock.advance(1)

    assert await eventually(lambda: is_used(store, {}))


async def test_few_places_are_given_back_at_once(store, clock) -> None:
    process, other = Process(store, clock), Process(store, clock)

    for number in range(5):
        assert await process.call(places(1), holder=f"{number}")
        assert not await other.call(places(1), holder="other")
        await process.usage.give_back([PLACES], f"{number}")

    assert await other.call(places(1), holder="other")


async def test_a_place_is_not_used_beyond_its_lease(store, clock) -> None:
    process = Process(store, clock)

    for number in range(100):
        await process.call(places(100), holder=f"{number}")
        clock.advance(0.5)
        process.usage.leave([PLACES], f"{number}")

    assert process.requests == 10, "a lease has at least 35 of its 40 seconds left"


@pytest.mark.usefixtures("returns_at_once")
async def test_a_place_whose_count_was_not_answered_is_freed_when_the_store_is_back(
    store, clock
) -> None:
    """Else a caller that asks again would be refused until the lease ends."""
    process = Process(store, clock)
    process.fails = True
    with pytest.raises(StoreError):
        await process.call(places(1), holder="first")
    assert await used(store) == {"concurrent": 1}
    await failed(process)
    process.fails = False

    assert await eventually(lambda: is_used(store, {}))
    assert await process.call(places(1), holder="again")


@pytest.mark.usefixtures("returns_at_once")
async def test_units_are_not_given_back_twice(store, clock) -> None:
    process = Process(store, clock)
    for _ in range(2):
        await process.call(daily(10**6))
    process.fails = True
    clock.advance(2)
    await failed(process)
    process.fails = False
    for _ in range(10):
        await asyncio.sleep(0)
    await process.usage.close()

    assert process.restored == []
    assert (await used(store))["budget"] > 2


async def test_what_a_call_gives_back_after_the_end_is_given_back(store, clock) -> None:
    """After a reload, calls of the contracts that were replaced may still learn their answer."""
    process = Process(store, clock)
    decision = await process.usage.take([daily(10**6)], "late")
    await process.usage.close()
    process.usage.undo(decision.spent)
    for _ in range(10):
        await asyncio.sleep(0)

    assert await used(store) == {}


async def test_a_refused_call_gives_back_what_it_took_here(store, clock) -> None:
    process = Process(store, clock)
    for _ in range(3):
        assert await process.call(daily(10**6))
    assert await process.call(places(1), holder="runs")

    for number in range(5):
        assert not await process.call(daily(10**6), places(1), holder=f"{number}")
    await process.usage.close()

    assert await used(store) == {"budget": 3, "concurrent": 1}


async def test_what_a_call_uses_may_be_forgotten_while_the_store_is_slow(
    store, clock, returns_at_once
) -> None:
    process = Process(store, clock)
    for number in range(6):
        assert await process.call(daily(1000), holder=f"call {number}")
    process.is_answered.clear()
    slow = asyncio.create_task(process.usage.take((daily(1000), places(5)), "slow"))
    await asyncio.sleep(0)
    clock.advance(3)
    await eventually(lambda: _is_forgotten(process))
    process.is_answered.set()

    decision = await slow

    assert [each.used for each in decision.usages] == [7, 1]
    await process.usage.give_back([PLACES], "slow")
    await process.usage.close()
    assert await used(store) == {"budget": 7}


async def _is_forgotten(process: Process) -> bool:
    return not process.usage._holdings._stocks


async def test_a_process_that_stops_tries_again_to_give_its_places_back(
    store, clock, returns_at_once
) -> None:
    process = Process(store, clock)
    assert await process.call(places(1))
    process.fails = True
    process.usage.leave([PLACES], "call")

    closing = asyncio.create_task(process.usage.close())
    await failed(process)
    process.fails = False
    await closing

    assert await Process(store, clock).call(places(1), holder="another")


async def test_once_it_is_closed_it_asks_its_store_no_more_and_says_what_is_left(
    store, clock, returns_at_once, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    process = Process(store, clock)
    assert await process.call(places(1))
    process.fails = True
    process.usage.leave([PLACES], "call")
    monkeypatch.setattr(reserving, "_CLOSE_SECONDS", 0.01)

    await process.usage.close()
    assert "limits and budgets are stricter" in caplog.text
    before = process.failed
    for _ in range(20):
        await asyncio.sleep(0)

    assert process.failed == before > 0
