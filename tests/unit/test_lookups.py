"""What is looked up once, by whom it is waited for, and how often while nothing happens."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gateway import workspace
from gateway.clock import Polls
from gateway.errors import StoreError
from gateway.lookups import RETRY_SECONDS, Known, Lookups
from gateway.store.publishing import SubscribedSession
from gateway.transports.mcp import own_tools
from gateway.transports.mcp.loading import Late
from gateway.transports.mcp.own_tools import OfferIndexes
from gateway.transports.mcp.subscriptions import SharedReading
from gateway.workspace import Workspace
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


Fail = Callable[[], Awaitable[Any]]
"""Fails once the test lets it."""


def subscriptions(fail: Fail, _: pytest.MonkeyPatch) -> Awaitable[Any]:
    store: Any = SimpleNamespace(of=lambda _: fail())
    return SharedReading(store).of(SubscribedSession("key", "session", ""))


def a_late_part(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(Late, "_loaded", lambda _: fail())
    return Late("the part", lambda: None).get()


def an_index(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(own_tools.asyncio, "to_thread", lambda *_: fail())
    catalogue: Any = None
    offer: Any = SimpleNamespace(connector=None, grants=frozenset())
    return OfferIndexes(catalogue).of(offer)


def a_workspace(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(workspace, "_open", lambda *_: fail())
    return Workspace("memory:", (), ManualClock())._opened()


@pytest.mark.parametrize("begin", [subscriptions, a_late_part, an_index, a_workspace])
async def test_a_failure_for_which_nobody_waits_is_not_logged(
    begin: Callable[[Fail, pytest.MonkeyPatch], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: noted.append(context["message"]))
    has_begun, may_fail, has_failed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def fail() -> Any:
        has_begun.set()
        await may_fail.wait()
        has_failed.set()
        raise StoreError("the database is away")

    async def wait() -> None:
        await begin(fail, monkeypatch)

    waiting = asyncio.create_task(wait())
    await has_begun.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    may_fail.set()
    await has_failed.wait()
    await asyncio.sleep(0)
    del waiting
    gc.collect()

    assert noted == []


def test_waits_double_until_there_is_work():
    polls = Polls(0.5, 5.0)
    assert [polls.wait_seconds() for _ in range(6)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    polls.note_work()
    assert [polls.wait_seconds() for _ in range(2)] == [0.5, 1.0]


def test_without_a_longer_wait_all_are_alike():
    polls = Polls(0.5, 0.0)
    assert [polls.wait_seconds() for _ in range(3)] == [0.5] * 3
