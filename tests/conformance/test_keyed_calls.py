"""Idempotency keys in every database."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.audit.log import NotBegun
from gateway.auth.principal import Grant, Permit, Principal
from gateway.calls.call import Arguments, Result
from gateway.calls.idempotency import CallLeases, CallUnderWay, Once, Repeatable
from gateway.catalogue import Entry
from gateway.contract.operation import Effect
from gateway.errors import NotRecorded, StoreError, UpstreamUnavailable
from gateway.ids import uuid7
from gateway.store.records import CallEnding, KeyedCall, KnownCall
from gateway.store.sql.store import SqlStore
from gateway.transports.http.problems import described
from tests.clocks import ManualClock
from tests.eventually import eventually
from tests.unit.calls.shop import operation

DAY = 86_400.0
ANSWER = CallEnding(
    outcome="result",
    body=b'{"ok": "\xc3\xa9 \\u0000"}',
    file=b"\x00\xff",
    media_type="image/png",
    backend="mock",
)


@pytest.fixture
def new(clock: ManualClock):
    """Makes calls, each with its own id."""

    def make(key: str = "k", subject: str = "key_1", fingerprint: str = "f") -> KeyedCall:
        return KeyedCall(
            id=uuid7(clock.now()),
            subject=subject,
            key=key,
            operation="golf.book_tee_time",
            fingerprint=fingerprint,
            lease_seconds=60,
        )

    return make


async def test_the_second_call_with_a_key_gets_the_first(timed_store: SqlStore, new, clock) -> None:
    calls, first = timed_store.keyed_calls, new(fingerprint="first")

    assert await calls.begin(first) is None
    clock.advance(20)
    running = await calls.begin(new())
    await calls.end(first.id, ANSWER)
    ended = await calls.begin(new())

    assert running is not None
    assert (running.id, running.fingerprint, running.ending) == (first.id, "first", None)
    assert running.left_seconds == 40
    assert ended is not None
    assert ended.ending == ANSWER


async def test_each_caller_has_its_own_keys_and_each_key_its_own_call(timed_store, new) -> None:
    calls = timed_store.keyed_calls
    others = [new("k", "key_2"), new("K"), new("'; DROP TABLE keyed_calls; --"), new("k ")]

    assert await calls.begin(new()) is None
    assert [await calls.begin(each) for each in others] == [None] * len(others)


async def test_of_many_calls_at_once_one_begins(timed_store: SqlStore, new) -> None:
    calls = [new() for _ in range(20)]

    known = await asyncio.gather(*map(timed_store.keyed_calls.begin, calls))

    begun = [call.id for call, found in zip(calls, known, strict=True) if found is None]
    assert len(begun) == 1
    assert {found.id for found in known if found is not None} == set(begun)


async def test_a_released_key_may_be_used_again(timed_store: SqlStore, new) -> None:
    calls, first = timed_store.keyed_calls, new()

    await calls.begin(first)
    await calls.release(first.id)

    assert await calls.begin(new()) is None


async def test_a_server_that_starts_cuts_off_what_nobody_runs(timed_store: SqlStore, new) -> None:
    calls, ended, running = timed_store.keyed_calls, new("ended"), new("running")
    await calls.begin(ended)
    await calls.end(ended.id, ANSWER)
    await calls.begin(running)

    await calls.cut_off(is_only_process=True)

    kept, lost = await calls.begin(new("ended")), await calls.begin(new("running"))
    assert kept is not None
    assert kept.ending == ANSWER
    assert lost is not None
    assert lost.ending == CallEnding(outcome="unknown")


async def test_calls_whose_lease_has_ended_are_cut_off(timed_store: SqlStore, new, clock) -> None:
    calls, dead, alive = timed_store.keyed_calls, new("dead"), new("alive")
    await calls.begin(dead)
    await calls.begin(alive)
    clock.advance(50)
    await calls.extend([alive.id], 60)
    clock.advance(20)

    await calls.cut_off(is_only_process=False)

    lost, running = await calls.begin(new("dead")), await calls.begin(new("alive"))
    assert lost is not None
    assert lost.ending == CallEnding(outcome="unknown")
    assert running is not None
    assert (running.ending, running.left_seconds) == (None, 40)
    await calls.end(dead.id, ANSWER)
    ended = await calls.begin(new("dead"))
    assert ended is not None
    assert ended.ending == ANSWER, "the process was alive after all"


def call() -> Repeatable:
    entry = Entry(operation(Effect.WRITE), None, None, None, None)  # type: ignore[arg-type]  # nothing else of it is used
    permit = Permit(Grant(Principal(subject="key", agent="agent"), entry))
    arguments = Arguments({"n": 1}, Effect.WRITE)
    return Repeatable(uuid7(datetime.now(UTC)), "k", permit, arguments)


async def quick() -> Result:
    return Result({"n": 1}, b'{"n":1}', "mock")


async def test_an_answer_that_could_not_be_stored_is_stored_later(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller learns that the call was made; a repetition gets the answer."""
    calls = store.keyed_calls
    once = Once(calls, described, CallLeases(calls, extend_seconds=0.01))
    end, is_down, refused = calls.end, True, asyncio.Semaphore(0)

    async def maybe_end(call_id: str, ending: CallEnding) -> None:
        if is_down:
            refused.release()
            raise StoreError("the database cannot be reached")
        await end(call_id, ending)

    monkeypatch.setattr(calls, "end", maybe_end)
    with pytest.raises(NotRecorded):
        await once.answer(call(), quick)
    with pytest.raises(CallUnderWay):
        await once.answer(call(), quick)
    for _ in range(4):
        await refused.acquire()
    is_down = False

    async def repeated() -> Result | None:
        with suppress(CallUnderWay):
            return await once.answer(call(), quick)
        return None

    found = await eventually(repeated)
    assert (found.values, found.is_repeated) == ({"n": 1}, True)
    await once.close()


async def made(once: Once) -> Result:
    """The answer to a repetition that makes the call."""

    async def repeated() -> Result | None:
        with suppress(CallUnderWay):
            return await once.answer(call(), quick)
        return None

    return await eventually(repeated)


async def test_a_call_that_is_stored_though_that_failed_does_not_hold_its_key(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a connection is cut before the answer to its commit arrives."""
    calls = store.keyed_calls
    once = Once(calls, described, CallLeases(calls, extend_seconds=0.01))
    begin = calls.begin

    async def begin_unheard(new: KeyedCall) -> KnownCall | None:
        await begin(new)
        raise StoreError("the connection was cut")

    with monkeypatch.context() as patched:
        patched.setattr(calls, "begin", begin_unheard)
        with pytest.raises(NotBegun):
            await once.answer(call(), quick)

    assert not (await made(once)).is_repeated
    await once.close()


async def test_a_failed_call_whose_key_could_not_be_released_is_released_later(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = store.keyed_calls
    once = Once(calls, described, CallLeases(calls, extend_seconds=0.01))

    async def fail() -> Result:
        raise UpstreamUnavailable

    async def release(_call_id: str) -> None:
        raise StoreError("the database cannot be reached")

    with monkeypatch.context() as patched:
        patched.setattr(calls, "release", release)
        with pytest.raises(UpstreamUnavailable):
            await once.answer(call(), fail)

    assert not (await made(once)).is_repeated
    await once.close()


async def test_leases_are_extended_once_at_a_time(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, asked, release = store.keyed_calls, [], asyncio.Event()
    extend = calls.extend

    async def slow_extend(*call: Any) -> None:
        asked.append(call)
        await release.wait()
        await extend(*call)

    monkeypatch.setattr(calls, "extend", slow_extend)
    once = Once(calls, described, CallLeases(calls, lease_seconds=60, extend_seconds=0.001))
    end = asyncio.Event()

    async def slow() -> Result:
        await end.wait()
        return Result({"n": 1}, b'{"n":1}', "mock")

    running = asyncio.create_task(once.answer(call(), slow))
    await eventually(lambda: asyncio.sleep(0, asked or None))
    await asyncio.sleep(0.1)
    assert len(asked) == 1
    release.set()
    await eventually(lambda: asyncio.sleep(0, asked[1:] or None))
    end.set()
    await running
    await once.close()


async def test_a_call_that_takes_longer_than_its_lease_keeps_it(
    timed_store: SqlStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its repetition is refused because it runs, and not because its outcome is unknown."""
    calls = timed_store.keyed_calls
    extend, extended = calls.extend, asyncio.Condition()

    async def extend_and_tell(*call: Any) -> None:
        await extend(*call)
        async with extended:
            extended.notify_all()

    monkeypatch.setattr(calls, "extend", extend_and_tell)
    once = Once(calls, described, CallLeases(calls, lease_seconds=60, extend_seconds=0.01))
    end = asyncio.Event()

    async def slow() -> Result:
        await end.wait()
        return Result({"n": 1}, b'{"n":1}', "mock")

    running = asyncio.create_task(once.answer(call(), slow))
    for _ in range(3):
        # The second is of a lease that was asked for after the time has passed.
        async with extended:
            await extended.wait()
            await extended.wait()
        clock.advance(50)
    with pytest.raises(CallUnderWay):
        await once.answer(call(), slow)
    end.set()

    assert (await running).values == {"n": 1}
    assert (await once.answer(call(), slow)).is_repeated
    await once.close()


async def test_a_key_is_kept_for_a_day(timed_store: SqlStore, new, clock: ManualClock) -> None:
    calls = timed_store.keyed_calls
    for number in range(3):
        await calls.begin(new(f"old {number}"))
    clock.advance(DAY - 1)
    await calls.begin(new("new"))

    assert await calls.prune(DAY, 10) == 0
    clock.advance(2)

    assert [await calls.prune(DAY, 2) for _ in range(3)] == [2, 1, 0]
    assert await calls.begin(new("old 1")) is None
    assert await calls.begin(new("new")) is not None
