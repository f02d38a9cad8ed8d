"""What is looked up is asked for once, and what is known serves until something newer is there."""

import asyncio

import pytest

from gateway.errors import StoreError
from gateway.lookups import RETRY_SECONDS, Known, Lookups
from tests.clocks import ManualClock


class Source:
    """Counts what it is asked for. It answers when `gate` is open, and fails while `is_broken`."""

    def __init__(self, clock):
        self._clock = clock
        self.asked = []
        self.gate = asyncio.Event()
        self.is_broken = False
        self.known = {}

    async def find(self, key):
        self.asked.append(key)
        asked_at = self._clock.monotonic()
        await self.gate.wait()
        if self.is_broken:
            raise StoreError("the database is away")
        found = Known(f"{key}-{self.asked.count(key)}", asked_at + 10, asked_at + 20)
        self.known[key] = found
        return found


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def source(clock):
    return Source(clock)


@pytest.fixture
def ask(source, clock):
    lookups = Lookups(source.find, clock, "test")

    async def current(key="a"):
        return (await lookups.current(key, source.known.get(key))).value

    return current


async def turns():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_hundred_callers_share_one_lookup_of_each_key(source, ask):
    callers = [asyncio.create_task(ask(key)) for key in "ab" * 50]
    await turns()
    source.gate.set()
    assert set(await asyncio.gather(*callers)) == {"a-1", "b-1"}
    assert sorted(source.asked) == ["a", "b"]


async def test_a_failure_is_that_of_those_who_wait_and_is_not_remembered(source, ask):
    source.is_broken = True
    callers = [asyncio.create_task(ask()) for _ in range(100)]
    await turns()
    source.gate.set()
    ends = await asyncio.gather(*callers, return_exceptions=True)
    assert {type(each) for each in ends} == {StoreError}
    assert len({id(each) for each in ends}) == 100
    source.is_broken = False
    assert await ask() == "a-2"


async def test_the_first_caller_may_leave(source, ask):
    callers = [asyncio.create_task(ask()) for _ in range(100)]
    await turns()
    callers[0].cancel()
    source.gate.set()
    ends = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(ends[0], asyncio.CancelledError)
    assert set(ends[1:]) == {"a-1"}
    assert source.asked == ["a"]


async def test_what_is_known_serves_while_it_is_looked_up_again(source, ask, clock):
    source.gate.set()
    await ask()
    source.gate.clear()
    clock.advance(10)
    assert {await ask() for _ in range(100)} == {"a-1"}
    await turns()
    assert source.asked == ["a", "a"]
    source.gate.set()
    await turns()
    assert await ask() == "a-2"


async def test_a_refresh_that_fails_is_repeated_after_a_pause(source, ask, clock):
    source.gate.set()
    await ask()
    source.is_broken = True
    clock.advance(10)
    for _ in range(100):
        assert await ask() == "a-1"
        await turns()
    assert len(source.asked) == 2
    clock.advance(RETRY_SECONDS)
    assert await ask() == "a-1"
    await turns()
    assert len(source.asked) == 3


async def test_nobody_gets_what_is_known_after_its_end(source, ask, clock):
    source.gate.set()
    await ask()
    source.gate.clear()
    clock.advance(20)
    callers = [asyncio.create_task(ask()) for _ in range(100)]
    await turns()
    assert not any(each.done() for each in callers)
    source.gate.set()
    assert set(await asyncio.gather(*callers)) == {"a-2"}
    assert source.asked == ["a", "a"]


async def test_what_is_known_is_not_shown():
    assert "secret" not in repr(Known("secret", 1.0, 2.0))
