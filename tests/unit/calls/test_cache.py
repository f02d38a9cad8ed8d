"""What is kept is answered again for its time, made once, and never a write."""

import asyncio
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.auth.principal import Grant, Permit, Principal
from gateway.calls.caching.answers import ENTRY_BYTES, MAX_TOLD, KeptAnswers
from gateway.calls.caching.reads import STALE_PAUSE_SECONDS, ConnectorWrites, ReadCache
from gateway.calls.caching.shared import SharedResults
from gateway.calls.call import Arguments, Result
from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.errors import (
    InvalidReply,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.clocks import ManualClock
from tests.unit.calls.shop import operation


class Maker:
    """Makes a new value at each call, when it is let."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.made = 0
        self.failure = failure
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> bytes:
        self.made += 1
        number = self.made
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return b"%d" % number


def kept(clock: ManualClock, max_bytes: int = 10_000) -> KeptAnswers[bytes]:
    return KeptAnswers(clock, len, max_bytes)


async def test_a_value_is_kept_until_its_time_is_up() -> None:
    clock, make = ManualClock(), Maker()
    answers = kept(clock)

    first = await answers.get(b"k", 60, make)
    clock.advance(59.9)
    assert await answers.get(b"k", 60, make) == first
    clock.advance(0.1)
    assert await answers.get(b"k", 60, make) == b"2"


async def test_a_failure_is_not_kept() -> None:
    clock, make = ManualClock(), Maker(ValueError("no"))
    answers = kept(clock)
    with pytest.raises(ValueError, match="no"):
        await answers.get(b"k", 60, make)
    make.failure = None

    assert await answers.get(b"k", 60, make) == b"2"


@pytest.mark.parametrize("failure", [None, ValueError("no")])
async def test_who_asks_meanwhile_shares_the_first_outcome(failure) -> None:
    make = Maker(failure)
    make.gate.clear()
    answers = kept(ManualClock())
    tasks = [asyncio.create_task(answers.get(b"k", 60, make)) for _ in range(50)]
    await asyncio.sleep(0)
    make.gate.set()

    outcomes = await asyncio.gather(*tasks, return_exceptions=True)

    assert make.made == 1
    assert len({id(outcome) for outcome in outcomes}) == (50 if failure else 1)
    assert set(map(repr, outcomes)) == {repr(failure) if failure else repr(b"1")}


async def test_when_the_first_gives_up_another_takes_its_place() -> None:
    make = Maker()
    make.gate.clear()
    answers = kept(ManualClock())
    first, *others = [asyncio.create_task(answers.get(b"k", 60, make)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    make.gate.set()

    assert await asyncio.gather(*others) == [b"2", b"2"]


async def test_who_does_not_share_waits_for_nobody_and_nobody_waits_for_it() -> None:
    make, hurried = Maker(), Maker(ValueError("no"))
    make.gate.clear()
    answers = kept(ManualClock())
    shared = asyncio.create_task(answers.get(b"k", 60, make))
    await asyncio.sleep(0)

    with pytest.raises(ValueError, match="no"):
        await answers.get(b"k", 60, hurried, is_shared=False)
    assert not shared.done()
    hurried.failure = None
    assert await answers.get(b"k", 60, hurried, is_shared=False) == b"2"
    make.gate.set()

    assert await shared == b"1"
    assert await answers.get(b"k", 60, hurried, is_shared=False) == b"1"
    assert (make.made, hurried.made) == (1, 2)
    assert answers._bytes == 2 + ENTRY_BYTES


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=2), st.integers(0, 60)), max_size=60))
async def test_no_more_is_kept_than_the_cap(asked) -> None:
    answers = kept(ManualClock(), max_bytes=1000)

    async def sized(size: int) -> bytes:
        return b"x" * size

    for key, size in asked:
        await answers.get(key, 60, lambda size=size: sized(size))
        sizes = (len(k) + len(v.value) + ENTRY_BYTES for k, v in answers._kept.items())
        assert answers._bytes == sum(sizes)
        assert answers._bytes <= 1000


async def test_the_least_recently_used_goes_first() -> None:
    answers, make = kept(ManualClock(), max_bytes=2 * (2 + ENTRY_BYTES)), Maker()
    await answers.get(b"a", 60, make)
    await answers.get(b"b", 60, make)
    await answers.get(b"a", 60, make)
    await answers.get(b"c", 60, make)

    assert await answers.get(b"a", 60, make) == b"1"
    assert await answers.get(b"b", 60, make) == b"4"


class Runs:
    """A pipeline's rest: results numbered in the order in which they are made."""

    def __init__(self) -> None:
        self.number = 0

    async def __call__(self) -> Result:
        self.number += 1
        return Result({"n": self.number}, b'{"n":%d}' % self.number, "mock")


def permit(cache_seconds: float, subject: str = "key", **members: float) -> Permit:
    entry = Entry(operation(cache_seconds=cache_seconds, **members), None, None, None, None)  # type: ignore[arg-type]  # the cache looks at the operation alone
    return Permit(Grant(Principal(subject=subject, agent="agent"), entry))


def read(**values: object) -> Arguments:
    return Arguments(values, Effect.READ)


async def test_results_are_kept_by_arguments_whatever_their_order() -> None:
    cache, run, kept_permit = ReadCache(ManualClock()), Runs(), permit(60)
    first = await cache.answer(kept_permit, read(a=1, b=2), run)
    same = await cache.answer(kept_permit, read(b=2, a=1), run)
    other = await cache.answer(kept_permit, read(a=1, b=3), run)

    assert (first.text, same.text, other.text) == (b'{"n":1}', b'{"n":1}', b'{"n":2}')


async def test_who_changes_a_result_changes_nobody_elses() -> None:
    cache, run = ReadCache(ManualClock()), Runs()
    first = await cache.answer(permit(60), read(), run)
    first.values["n"] = 99

    assert (await cache.answer(permit(60), read(), run)).values == {"n": 1}


async def test_of_a_result_only_its_text_is_kept() -> None:
    """Its values take ten times the room that the limit counts."""

    class Values(dict[str, int]):
        """A dictionary whose end can be seen."""

    values = Values(n=1)
    end = weakref.ref(values)
    results = [Result(values, b'{"n":1}', "mock")]
    del values

    async def run() -> Result:
        return results.pop()

    cache = ReadCache(ManualClock())
    answered = await cache.answer(permit(60), read(), run)

    assert answered.values == {"n": 1}
    assert end() is None


async def test_nothing_is_kept_without_a_promise_nor_of_a_write() -> None:
    cache, run = ReadCache(ManualClock()), Runs()
    write = Arguments({}, Effect.WRITE)
    for _ in range(2):
        await cache.answer(permit(0), read(), run)
        await cache.answer(permit(60), write, run)

    assert run.number == 4


@pytest.mark.parametrize("failure", [None, ValueError("no")])
async def test_after_a_write_of_the_connector_nothing_older_is_answered(failure) -> None:
    """Also when the write fails: it may have happened."""
    cache, run = ReadCache(ManualClock()), Runs()
    await cache.answer(permit(60), read(), run)

    async def write() -> Result:
        if failure is not None:
            raise failure
        return await run()

    await asyncio.gather(
        cache.answer(permit(60), Arguments({}, Effect.WRITE), write), return_exceptions=True
    )
    made = run.number

    assert (await cache.answer(permit(60), read(), run)).values == {"n": made + 1}


async def test_a_write_of_one_generation_ends_what_another_one_keeps() -> None:
    clock, run = ManualClock(), Runs()
    writes = ConnectorWrites(clock)
    old, new = ReadCache(clock, writes=writes), ReadCache(clock, writes=writes)
    await new.answer(permit(60), read(), run)

    await old.answer(permit(60), Arguments({}, Effect.WRITE), run)

    assert (await new.answer(permit(60), read(), run)).values == {"n": 3}


async def test_what_a_write_has_ended_takes_no_memory_after_the_next_read() -> None:
    cache, run = ReadCache(ManualClock()), Runs()
    for number in range(9):
        await cache.answer(permit(86_400), read(a=number), run)
    await cache.answer(permit(60), Arguments({}, Effect.WRITE), run)

    await cache.answer(permit(86_400), read(a=0), run)

    assert len(cache.kept) == 1
    assert cache.kept.size_bytes < 2 * ENTRY_BYTES


@pytest.mark.parametrize(("changing", "made"), [("shop", 2), ("other", 1)])
async def test_where_others_write_unseen_nothing_that_they_may_change_is_kept(
    changing, made
) -> None:
    cache, run = ReadCache(ManualClock(), {changing}, others_write=True), Runs()
    results = [await cache.answer(permit(60), read(), run) for _ in range(2)]

    assert run.number == made
    # Without an age, a transport says that no client may keep it either.
    assert [result.age is None for result in results] == [changing == "shop"] * 2


async def test_a_read_that_a_write_overtakes_is_not_answered_again() -> None:
    """It may have seen the world as it was before."""
    cache, run, gate = ReadCache(ManualClock()), Runs(), asyncio.Event()

    async def slow() -> Result:
        result = await run()
        await gate.wait()
        return result

    overtaken = asyncio.create_task(cache.answer(permit(60), read(), slow))
    await asyncio.sleep(0)
    await cache.answer(permit(60), Arguments({}, Effect.WRITE), run)
    gate.set()
    await overtaken

    assert (await cache.answer(permit(60), read(), run)).values == {"n": 3}


DOWN = UpstreamUnavailable("Nobody answers.")


class Failing(Runs):
    """The same, until its upstream fails."""

    failure: UpstreamError | None = None

    async def __call__(self) -> Result:
        result = await super().__call__()
        if self.failure is not None:
            raise self.failure
        return result


def may_be_stale() -> Permit:
    return permit(60, stale_seconds=600)


async def stale_site(failure: UpstreamError = DOWN) -> tuple[ReadCache, ManualClock, Failing]:
    """A cache with one result whose time is up, and an upstream that fails."""
    clock, run = ManualClock(), Failing()
    cache = ReadCache(clock)
    await cache.answer(may_be_stale(), read(), run)
    clock.advance(100)
    run.failure = failure
    return cache, clock, run


async def test_a_result_says_how_old_it_is() -> None:
    clock, run = ManualClock(), Runs()
    cache = ReadCache(clock, {"other"})
    new = await cache.answer(permit(60), read(), run)
    clock.advance(20)
    kept = await cache.answer(permit(60), read(), run)

    assert new.age is not None
    assert kept.age is not None
    assert (new.age.seconds, new.age.left_seconds, new.age.is_reused) == (0, 60, False)
    assert (kept.age.seconds, kept.age.left_seconds, kept.age.is_reused) == (20, 40, True)
    changing = await ReadCache(clock, {"shop"}).answer(permit(60), read(), run)
    assert changing.age is not None
    assert changing.age.left_seconds == 0


async def test_a_result_does_not_tell_that_another_caller_asked_before() -> None:
    clock, run = ManualClock(), Runs()
    cache = ReadCache(clock)

    async def told(subject: str) -> tuple[float, float, bool]:
        age = (await cache.answer(permit(60, subject), read(), run)).age
        assert age is not None
        return age.seconds, age.left_seconds, age.is_reused

    assert await told("one") == (0, 60, False)
    clock.advance(20)
    assert await told("two") == (0, 60, False)
    clock.advance(5)
    assert await told("two") == (5, 55, True)
    assert await told("one") == (25, 35, True)
    together = await asyncio.gather(told("three"), told("four"))
    assert together == [(0, 60, False)] * 2
    assert run.number == 1


async def test_whose_calls_are_joined_is_not_told() -> None:
    cache, run, gate = ReadCache(ManualClock()), Runs(), asyncio.Event()

    async def wait() -> Result:
        await gate.wait()
        return await run()

    asking = [
        asyncio.create_task(cache.answer(permit(60, each), read(), wait)) for each in ("one", "two")
    ]
    await asyncio.sleep(0)
    gate.set()
    found = await asyncio.gather(*asking)
    assert [each.age is not None and each.age.is_reused for each in found] == [False, False]
    assert run.number == 1


async def test_more_callers_than_are_remembered_are_told_the_same() -> None:
    clock, run = ManualClock(), Runs()
    cache = ReadCache(clock)
    for number in range(MAX_TOLD + 2):
        await cache.answer(permit(60, f"key {number}"), read(), run)
    clock.advance(20)
    ages = [
        (await cache.answer(permit(60, f"key {number}"), read(), run)).age
        for number in (0, MAX_TOLD, MAX_TOLD + 1)
    ]
    assert [each.seconds for each in ages if each is not None] == [20, 0, 0]


@pytest.mark.parametrize("failure", [DOWN, UpstreamTimeout()])
async def test_while_the_upstream_fails_a_stale_result_is_used_and_says_so(failure) -> None:
    cache, _, run = await stale_site(failure)

    stale = await cache.answer(may_be_stale(), read(), run)

    assert (stale.values, cache.kept.stale_uses) == ({"n": 1}, 1)
    assert stale.age is not None
    assert (stale.age.seconds, stale.age.left_seconds) == (100, 0)
    assert type(stale.age.failure) is type(failure)


@pytest.mark.parametrize("failure", [UpstreamRejected(), InvalidReply()])
async def test_no_other_failure_is_hidden(failure) -> None:
    cache, _, run = await stale_site(failure)

    with pytest.raises(type(failure)):
        await cache.answer(may_be_stale(), read(), run)


async def test_a_stale_result_has_its_time_too() -> None:
    cache, clock, run = await stale_site()
    clock.advance(559.9)
    assert (await cache.answer(may_be_stale(), read(), run)).values == {"n": 1}
    clock.advance(0.1)

    with pytest.raises(UpstreamUnavailable):
        await cache.answer(may_be_stale(), read(), run)
    with pytest.raises(UpstreamUnavailable):
        await cache.answer(may_be_stale(), read(b=1), run)


async def test_a_failed_upstream_is_asked_again_after_a_pause() -> None:
    cache, clock, run = await stale_site()
    await cache.answer(may_be_stale(), read(), run)
    run.failure = None

    assert (await cache.answer(may_be_stale(), read(), run)).values == {"n": 1}
    assert run.number == 2
    clock.advance(STALE_PAUSE_SECONDS)
    assert (await cache.answer(may_be_stale(), read(), run)).values == {"n": 3}


async def test_a_caller_with_lower_limits_gets_a_stale_result_and_decides_for_nobody() -> None:
    cache, _, run = await stale_site()
    hurried = await cache.answer(may_be_stale(), read(), run, is_shared=False)
    run.failure = None

    assert hurried.values == {"n": 1}
    assert (await cache.answer(may_be_stale(), read(), run)).values == {"n": 3}


async def test_after_a_write_nothing_older_is_stale_either() -> None:
    cache, _, run = await stale_site()
    await cache.answer(may_be_stale(), Arguments({}, Effect.WRITE), Runs())

    with pytest.raises(UpstreamUnavailable):
        await cache.answer(may_be_stale(), read(), run)


@pytest.mark.parametrize(
    ("failure", "is_settled"),
    [
        (InvalidReply(), False),
        (asyncio.CancelledError(), False),
        (UpstreamTimeout(), False),
        (UpstreamUnavailable(), False),
        (UpstreamUnavailable(is_sent=False), True),
        (UpstreamRejected(), True),
    ],
)
async def test_after_a_write_that_may_still_happen_nothing_is_kept_for_a_time(
    failure, is_settled
) -> None:
    clock, run = ManualClock(), Runs()
    cache = ReadCache(clock)

    async def write() -> Result:
        raise failure

    with pytest.raises(type(failure)):
        await cache.answer(permit(60), Arguments({}, Effect.WRITE), write)
    for _ in range(2):
        await cache.answer(permit(60), read(), run)
    assert run.number == (1 if is_settled else 2)
    clock.advance(30)
    for _ in range(2):
        await cache.answer(permit(60), read(), run)
    assert run.number == (1 if is_settled else 3)


class Board:
    """Notes what begins and ends on it."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    async def begin_write(self, connector: str, write: str) -> None:
        self.noted.append(f"begin {connector}")

    async def end_write(self, connector: str, write: str, unsettled_seconds: float) -> None:
        self.noted.append(f"end {connector}")


@pytest.mark.parametrize(
    ("announced", "noted"), [((), []), (("shop",), ["begin shop", "end shop"])]
)
async def test_only_writes_that_end_shared_results_are_announced(announced, noted) -> None:
    board, clock = Board(), ManualClock()
    shared = SharedResults(board, clock, b"secret", announced)  # type: ignore[arg-type]  # a part
    cache = ReadCache(clock, others_write=True, shared=shared)

    await cache.answer(permit(60), Arguments({}, Effect.WRITE), Runs())

    assert board.noted == noted
