"""Counters of limits in every database."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

import pytest

from gateway.errors import StoreError
from gateway.store.redis import RedisUsage
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from gateway.store.usage import CounterId, Demand, LimitKind, Return, UsageStore
from tests.clocks import NOW, ManualClock
from tests.eventually import eventually
from tests.redis_server import RedisServer

HOUR = CounterId("golf_concierge", "hour", "golf.book_tee_time", "key_1").text
PLACES = CounterId("golf_concierge", "concurrent").text
BUDGET = CounterId("golf_concierge", "budget").text


def of_window(most: int = 3, seconds: float = 60, counter: str = HOUR) -> Demand:
    return Demand(counter=counter, max=most, kind=LimitKind.WINDOW, seconds=seconds)


def of_places(most: int = 2, seconds: float = 30) -> Demand:
    return Demand(counter=PLACES, max=most, kind=LimitKind.LEASE, seconds=seconds)


def of_budget(units: int, most: int = 10) -> Demand:
    return Demand(counter=BUDGET, max=most, kind=LimitKind.DAY, seconds=86_400, units=units)


async def counted(store: SqlStore, demand: Demand, holder: str = "call") -> bool:
    return not (await store.usage.take([demand], holder)).refused


async def test_no_window_ever_holds_more_calls_than_its_limit(timed_store, clock) -> None:
    """Also when the calls are unevenly spread: the window moves with the time."""
    times: list[float] = []
    for passed in (0, 50, 9, 0, 1, 0, 0, 30, 19, 0, 1, 40, 20, 0, 0, 0):
        clock.advance(passed)
        if await counted(timed_store, of_window()):
            times.append(clock.seconds)

    in_windows = [sum(start <= each < start + 60 for each in times) for start in times]
    assert max(in_windows) == 3
    assert len(times) == 8


async def test_a_refusal_says_what_is_used_and_when_it_comes_back(timed_store, clock) -> None:
    await counted(timed_store, of_window(2))
    clock.advance(20)
    taken = await timed_store.usage.take([of_window(2)], "call")
    clock.advance(5)
    refused = await timed_store.usage.take([of_window(2)], "call")

    assert [(each.used, (each.until - NOW).total_seconds()) for each in taken.usages] == [(2, 60)]
    assert refused.refused == (0,)
    assert [(each.used, (each.until - NOW).total_seconds()) for each in refused.usages] == [(2, 60)]
    assert (refused.at - NOW).total_seconds() == 25


async def test_a_refused_call_takes_nothing_of_any_limit(timed_store: SqlStore) -> None:
    for _ in range(3):
        await timed_store.usage.take([of_window(9), of_budget(4)], "call")

    held = await timed_store.usage.readings(10)

    assert [(each.counter.limit, each.usage.used) for each in held] == [("budget", 8), ("hour", 2)]


async def test_a_budget_is_that_of_a_day(timed_store: SqlStore, clock: ManualClock) -> None:
    assert await counted(timed_store, of_budget(10))
    assert not await counted(timed_store, of_budget(1))
    refused = await timed_store.usage.take([of_budget(1)], "call")
    clock.advance(9.5 * 3600)

    assert refused.usages[0].until == clock.now()
    assert await counted(timed_store, of_budget(1))


async def test_places_are_given_back_or_end(timed_store: SqlStore, clock: ManualClock) -> None:
    usage = timed_store.usage
    assert await counted(timed_store, of_places(), "a")
    clock.advance(10)
    assert await counted(timed_store, of_places(), "b")
    assert not await counted(timed_store, of_places(), "c")

    await usage.give_back([PLACES], "b")
    assert await counted(timed_store, of_places(), "c")
    assert not await counted(timed_store, of_places(), "d")
    clock.advance(20)

    assert await counted(timed_store, of_places(), "d")


async def test_of_many_calls_at_once_as_many_are_counted_as_there_may_be(store: SqlStore) -> None:
    demands = [[of_window(40), of_budget(1, 70)], [of_budget(1, 70)]]

    decisions = await asyncio.gather(
        *(store.usage.take(demands[number % 2], f"call {number}") for number in range(300))
    )

    refused = Counter(each.refused for each in decisions)
    held = {each.counter.limit: each.usage.used for each in await store.usage.readings(10)}
    assert held["budget"] == 70 == refused[()]
    assert held["hour"] <= 40


async def test_a_cancelled_call_gives_its_place_back(store: SqlStore) -> None:
    asked = [asyncio.create_task(counted(store, of_places(50), f"{n}")) for n in range(20)]
    await asyncio.sleep(0)
    for each in asked:
        each.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
    await store.usage.give_back([PLACES], "nobody")

    assert await store.usage.readings(10) == []


async def test_counters_that_hold_nothing_are_removed(timed_store: SqlStore, clock) -> None:
    for number in range(5):
        await counted(timed_store, of_window(counter=f"a/{number}//"))
    clock.advance(30)
    await counted(timed_store, of_window(counter="a/new//"))
    clock.advance(30)

    assert [await timed_store.usage.prune(0, 3) for _ in range(3)] == [3, 2, 0]
    assert [each.counter.limit for each in await timed_store.usage.readings(9)] == ["new"]


async def test_a_call_that_cannot_be_counted_raises_and_the_next_one_is(store, monkeypatch) -> None:
    async def fail(_work: object) -> None:
        raise StoreError("the database cannot be reached")

    with monkeypatch.context() as broken:
        broken.setattr(store.database, "write", fail)
        with pytest.raises(StoreError):
            await store.usage.take([of_window()], "call")

    assert await counted(store, of_window())
    assert [each.usage.used for each in await store.usage.readings(9)] == [1]


async def test_units_ahead_are_given_and_restored(timed_store: SqlStore) -> None:
    await check_units_ahead(timed_store.usage)


async def check_units_ahead(usage: UsageStore) -> None:
    """At most one part in 16 of what is left, in whole calls, and none where few are left."""
    wide = Demand(counter="a/wide//", max=1000, kind=LimitKind.WINDOW, seconds=3600, ahead=256)
    day = Demand(counter=BUDGET, max=100, kind=LimitKind.DAY, seconds=86_400, units=2, ahead=512)
    few = Demand(counter="a/few//", max=16, kind=LimitKind.WINDOW, seconds=60, ahead=256)

    decision = await usage.take([wide, day, few], "call")
    taken = decision.taken
    assert [each.ahead for each in taken] == [62, 6, 0]
    assert [each.used for each in decision.usages] == [63, 8, 1]
    assert (taken[1].usable_until - decision.at).total_seconds() <= 86_400
    assert 0 <= (taken[0].usable_until - decision.at).total_seconds() <= 3600 / 256

    ids = [each.counter for each in (wide, day, few)]
    back = [
        Return(ids[0], taken[0].entry, 60),
        Return(ids[1], taken[1].entry),
        Return(ids[2], "x", 1),
    ]
    await usage.restore(back)
    held = {each.counter.limit: each.usage.used for each in await usage.readings(9)}
    assert held == {"wide": 3, "few": 1}


@pytest.fixture
async def in_redis(redis: RedisServer) -> AsyncIterator[RedisUsage]:
    opened = RedisUsage(redis.url, named(str(uuid4())))
    yield opened
    await opened.close()


def named(name: str) -> Callable[[], Awaitable[str]]:
    async def home() -> str:
        return name

    return home


@pytest.mark.redis
async def test_redis_counts_each_store_by_itself(redis: RedisServer, shared_url: str) -> None:
    """Two projects may have agents of the same names, and one Redis."""
    stores = [await open_store(url) for url in (shared_url, "memory:", shared_url)]
    counting = [RedisUsage(redis.url, each.name) for each in stores]
    taken = [not (await each.take([of_window(1)], "call")).refused for each in counting]
    for each in (*counting, *stores):
        await each.close()

    assert taken == [True, True, False]


@pytest.mark.redis
async def test_redis_counts_as_databases_do(in_redis: RedisUsage) -> None:
    """A call takes of all limits or of none, and the answers have the same form."""
    demands = [of_window(5, 60), of_places(3), of_budget(2, 7), of_window(5000, 60, "a/wide//")]

    taken = [await in_redis.take(demands, f"{number}") for number in range(4)]
    await in_redis.give_back([PLACES], "1")
    again = await in_redis.take(demands, "again")

    assert [each.refused for each in taken] == [(), (), (), (1, 2)]
    assert [usage.used for usage in taken[2].usages] == [3, 3, 6, 3]
    assert [usage.used for usage in taken[3].usages] == [3, 3, 6, 3]
    assert again.refused == (2,)
    ends = [(usage.until - taken[0].at).total_seconds() for usage in taken[0].usages]
    assert ends[:2] == [60, 30]
    assert 60 <= ends[3] <= 60 + 60 / 256
    assert taken[0].usages[2].until.strftime("%H:%M:%S.%f") == "00:00:00.000000"
    held = [(each.counter.limit, each.usage.used) for each in await in_redis.readings(10)]
    assert held == [("wide", 3), ("budget", 6), ("concurrent", 2), ("hour", 3)]


@pytest.mark.redis
async def test_redis_gives_units_ahead_as_databases_do(in_redis: RedisUsage) -> None:
    await check_units_ahead(in_redis)


@pytest.mark.redis
async def test_redis_gives_back_what_has_left_the_window(in_redis: RedisUsage) -> None:
    demand = of_window(2, 2)

    taken = [await in_redis.take([demand], "call") for _ in range(3)]
    await asyncio.sleep(2.1)
    later = await in_redis.take([demand], "call")

    assert [bool(each.refused) for each in taken] == [False, False, True]
    assert (later.refused, later.usages[0].used) == ((), 1)


@pytest.mark.redis
async def test_a_cancelled_call_gives_its_place_in_redis_back(in_redis: RedisUsage) -> None:
    asked = [asyncio.create_task(in_redis.take([of_places(50)], f"{n}")) for n in range(9)]
    for turns, each in enumerate(asked):
        # Each leaves at another point of its work.
        for _ in range(turns):
            await asyncio.sleep(0)
        each.cancel()
    ended = await asyncio.gather(*asked, return_exceptions=True)
    taken = [n for n, each in enumerate(ended) if not isinstance(each, asyncio.CancelledError)]
    for number in taken:
        await in_redis.give_back([PLACES], f"{number}")

    async def given_back() -> bool | None:
        return await in_redis.readings(10) == [] or None

    await eventually(given_back)


@pytest.mark.redis
async def test_without_redis_calls_are_not_counted_and_later_they_are(redis, in_redis) -> None:
    assert not (await in_redis.take([of_window()], "call")).refused
    redis.stop()
    with pytest.raises(StoreError, match="Redis did not answer") as failed:
        await in_redis.take([of_window()], "call")
    assert "127.0.0.1" not in failed.value.detail
    redis.start()

    assert not (await in_redis.take([of_window()], "call")).refused
    assert [each.usage.used for each in await in_redis.readings(9)] == [1]
