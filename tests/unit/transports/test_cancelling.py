"""The table of the calls that can be cancelled: bounded, and nobody cancels what is not theirs."""

import asyncio

import pytest

from gateway.transports.mcp import cancelling
from gateway.transports.mcp.cancelling import CalledOff, CallsUnderWay, call_key, session_of

KEY = call_key("key-of-ada", "session-1", 1)


async def hold(calls, key, entered=None):
    """Run until cancelled."""
    with calls.cancellable(key):
        if entered is not None:
            entered.set()
        await asyncio.Event().wait()


async def started(calls, key):
    """A call that runs."""
    entered = asyncio.Event()
    task = asyncio.create_task(hold(calls, key, entered))
    await entered.wait()
    return task


async def ended(task):
    """How a task ended."""
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    return type(outcome)


async def test_only_the_named_call_is_cancelled():
    calls = CallsUnderWay()
    mine = await started(calls, KEY)
    others = [
        await started(calls, key)
        for key in (
            call_key("key-of-ada", "session-1", 2),
            call_key("key-of-ada", "session-1", "1"),
            call_key("key-of-ada", "session-2", 1),
            call_key("key-of-bob", "session-1", 1),
            None,
        )
    ]
    calls.cancel(KEY)
    calls.cancel(None)
    assert await ended(mine) is CalledOff
    assert not any(task.done() for task in others)
    for task in others:
        task.cancel()
    assert [await ended(task) for task in others] == [asyncio.CancelledError] * len(others)


@pytest.mark.parametrize(
    ("session", "request_id"), [(None, 1), ("s", None), ("s", "x" * 129), (None, None)]
)
def test_what_is_not_named_or_too_long_has_no_key(session, request_id):
    assert call_key("subject", session, request_id) is None


@pytest.mark.parametrize(
    ("values", "session"),
    [([], None), ([b""], None), ([b"a" * 129], None), ([b"a", b"b"], None), ([b"a"], "a")],
)
def test_a_session_is_one_short_header(values, session):
    assert session_of({"headers": [(b"mcp-session-id", value) for value in values]}) == session


async def test_a_call_that_has_ended_is_forgotten():
    calls = CallsUnderWay()
    with calls.cancellable(KEY):
        pass
    calls.cancel(KEY)
    await asyncio.sleep(0)
    task = await started(calls, KEY)
    calls.cancel(KEY)
    calls.cancel(KEY)
    assert await ended(task) is CalledOff


async def test_nothing_is_kept_for_what_is_cancelled_and_was_never_called():
    calls = CallsUnderWay()
    for number in range(100):
        calls.cancel(call_key("key-of-ada", f"session-{number}", number))
    assert calls._calls == {}


async def test_an_id_used_twice_cancels_the_later_call_only():
    calls = CallsUnderWay()
    first, second = await started(calls, KEY), await started(calls, KEY)
    calls.cancel(KEY)
    assert await ended(second) is CalledOff
    calls.cancel(KEY)
    assert not first.done()
    first.cancel()
    assert await ended(first) is asyncio.CancelledError


async def test_who_is_cancelled_by_others_too_stays_cancelled():
    """The gateway stops while a client cancels: the task must end."""
    calls = CallsUnderWay()
    task = await started(calls, KEY)
    calls.cancel(KEY)
    task.cancel()
    assert await ended(task) is asyncio.CancelledError


async def test_an_error_of_the_call_is_not_taken_for_its_cancellation():
    calls = CallsUnderWay()

    async def fail():
        with calls.cancellable(KEY):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError from None

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    calls.cancel(KEY)
    assert await ended(task) is ValueError
    assert task.cancelling() == 0


async def test_one_call_too_many_runs_and_cannot_be_cancelled(monkeypatch):
    monkeypatch.setattr(cancelling, "MAX_CALLS", 1)
    calls = CallsUnderWay()
    first = await started(calls, KEY)
    other = call_key("key-of-ada", "session-1", 2)
    second = await started(calls, other)
    calls.cancel(other)
    await asyncio.sleep(0)
    assert not second.done()
    calls.cancel(KEY)
    assert await ended(first) is CalledOff
    second.cancel()
    assert await ended(second) is asyncio.CancelledError
