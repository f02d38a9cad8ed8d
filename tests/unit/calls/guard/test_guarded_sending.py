"""What each request says about its upstream, and what a call does that may not send."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.backends.base import ReplyTooLarge
from gateway.calls.guard import Breaker, NotSent, UpstreamGuard
from gateway.calls.sending import UpstreamConnection
from gateway.contract.operation import Attempts, Effect
from gateway.contract.upstream import UpstreamRequest
from gateway.errors import (
    GatewayError,
    MalformedRequest,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.unit.calls.shop import Scripted, Sendings, connection, reply
from tests.unit.tables import each_of

THREE = Attempts(max=3, backoff_seconds=(0.1,))
LOOK = UpstreamRequest(operation="look", method="GET", path=("items", "1"))
ORDER = UpstreamRequest(operation="order", method="POST", path=("orders",))
DOWN = [*map(reply, (502, 503, 504)), UpstreamTimeout(), UpstreamUnavailable(), ReplyTooLarge()]
ALIVE = [*map(reply, (200, 400, 401, 404, 429, 500))]
SILENT = [UpstreamRejected(), UpstreamRefusedCredentials(), MalformedRequest(), ValueError("bug")]


def guarded(
    sendings: Sendings, *script: Any, failures: int = 5
) -> tuple[UpstreamConnection, UpstreamGuard, Scripted]:
    to_shop, backend = connection(*script)
    breaker = Breaker(sendings.clock, failures)
    guard = UpstreamGuard("Shop", sendings.clock, max_requests=200, breaker=breaker)
    return replace(to_shop, guard=guard), guard, backend


@each_of(
    ("outcome", "state"),
    [(each, "open") for each in DOWN]
    + [(each, "closed") for each in ALIVE]
    + [(each, "half-open") for each in SILENT],
    ids=lambda each: str(getattr(each, "status", None) or getattr(each, "detail", None) or each),
)
async def test_each_outcome_counts_as_what_it_is(outcome: Any, state: str) -> None:
    sendings = Sendings()
    to_shop, guard, _ = guarded(sendings, UpstreamTimeout(), outcome, failures=1)
    with pytest.raises(UpstreamTimeout):
        await sendings.start().send(to_shop, LOOK)
    sendings.clock.advance(2.0)

    with suppress(GatewayError, ValueError):
        await sendings.start().send(to_shop, LOOK)

    assert (guard.state, guard.requests_under_way) == (state, 0)


async def test_a_call_that_is_cancelled_says_nothing_about_its_upstream() -> None:
    sendings = Sendings()
    to_shop, guard, _ = guarded(sendings, asyncio.Event(), failures=1)
    call = asyncio.create_task(sendings.start().send(to_shop, LOOK))
    await asyncio.sleep(0)
    assert guard.requests_under_way == 1

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert (guard.state, guard.requests_under_way) == ("closed", 0)


async def test_a_call_that_is_cancelled_when_its_time_is_up_is_a_timeout() -> None:
    sendings = Sendings()
    to_shop, guard, _ = guarded(sendings, asyncio.Event(), failures=1)
    call = asyncio.create_task(sendings.start(seconds=30).send(to_shop, LOOK))
    await asyncio.sleep(0)
    sendings.clock.advance(30)

    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert guard.state == "open"


async def test_a_timeout_that_the_caller_asked_for_is_not_the_upstreams_fault() -> None:
    sendings = Sendings()
    to_shop, guard, _ = guarded(sendings, UpstreamTimeout(), failures=1)

    with pytest.raises(UpstreamTimeout):
        await sendings.start(seconds=1, is_cut_short=True).send(to_shop, LOOK)

    assert guard.state == "closed"


async def test_an_upstream_is_not_blamed_for_time_that_another_one_used() -> None:
    sendings = Sendings()
    to_shop, guard, _ = guarded(sendings, UpstreamTimeout(), failures=1)
    sending = sendings.start(seconds=30)
    sendings.clock.advance(20)

    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, LOOK)
    assert guard.state == "closed"
    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, LOOK, timeout_seconds=5)
    assert guard.state == "open"


async def test_a_refused_request_is_not_sent_and_not_repeated() -> None:
    sendings = Sendings()
    to_shop, _, backend = guarded(sendings, UpstreamTimeout(), failures=1)
    with pytest.raises(UpstreamTimeout):
        await sendings.start(THREE).send(to_shop, LOOK)

    with pytest.raises(NotSent):
        await sendings.start(THREE).send(to_shop, LOOK)

    assert (len(backend.sent), sendings.waits) == (1, [])


async def test_a_write_that_was_not_sent_has_certainly_not_happened() -> None:
    sendings = Sendings()
    to_shop, _, _ = guarded(sendings, UpstreamTimeout(), failures=1)
    with pytest.raises(UpstreamTimeout):
        await sendings.start().send(to_shop, LOOK)
    sending = sendings.start(effect=Effect.WRITE)

    with pytest.raises(NotSent) as refused:
        await sending.send(to_shop, ORDER)

    assert not sending.changes.are_possible
    assert not sending.changes.are_unknown(refused.value)


async def test_retries_of_a_failing_upstream_end_when_the_breaker_opens() -> None:
    sendings = Sendings()
    to_shop, guard, backend = guarded(sendings, reply(503))

    statuses = [(await sendings.start(THREE).send(to_shop, LOOK)).status for _ in range(2)]

    assert (statuses, guard.state, len(backend.sent)) == ([503, 503], "open", 5)


async def test_all_calls_wait_when_the_upstream_asks_one_of_them_to() -> None:
    sendings = Sendings()
    to_shop, _, backend = guarded(sendings, reply(429, retry_after="7"), reply())
    assert (await sendings.start().send(to_shop, LOOK)).status == 429

    with pytest.raises(UpstreamRateLimited) as refused:
        await sendings.start().send(to_shop, LOOK)
    assert (refused.value.retry_after_seconds, len(backend.sent)) == (7, 1)

    sendings.clock.advance(7)
    assert (await sendings.start().send(to_shop, LOOK)).status == 200


async def test_the_call_that_was_asked_to_wait_does_and_goes_on() -> None:
    sendings = Sendings()
    to_shop, _, backend = guarded(sendings, reply(429, retry_after="7"), reply())

    assert (await sendings.start(THREE).send(to_shop, LOOK)).status == 200
    assert len(backend.sent) == 2


async def test_requests_of_the_call_that_tries_wait_for_its_trial() -> None:
    sendings, answer = Sendings(), asyncio.Event()
    to_shop, guard, backend = guarded(sendings, UpstreamTimeout(), answer, reply(), failures=1)
    with pytest.raises(UpstreamTimeout):
        await sendings.start().send(to_shop, LOOK)
    sendings.clock.advance(2.0)
    sending = sendings.start()

    async def look() -> None:
        await sending.send(to_shop, LOOK)

    calls = [asyncio.create_task(look()) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(NotSent):
        await sendings.start().send(to_shop, LOOK)
    assert (guard.state, len(backend.sent)) == ("half-open", 2)
    backend.answers = reply()
    answer.set()
    await asyncio.gather(*calls)

    assert (guard.state, len(backend.sent)) == ("closed", 4)


@pytest.mark.parametrize("ends", [UpstreamTimeout(), ValueError("bug")], ids=["fails", "breaks"])
async def test_requests_that_wait_for_a_trial_that_fails_are_not_sent(ends: Exception) -> None:
    sendings, answer = Sendings(), asyncio.Event()
    to_shop, guard, backend = guarded(sendings, UpstreamTimeout(), answer, failures=1)
    with pytest.raises(UpstreamTimeout):
        await sendings.start().send(to_shop, LOOK)
    sendings.clock.advance(2.0)
    sending = sendings.start()

    async def look() -> None:
        await sending.send(to_shop, LOOK)

    calls = [asyncio.create_task(look()) for _ in range(3)]
    await asyncio.sleep(0)
    backend.answers = ends
    answer.set()
    found = await asyncio.gather(*calls, return_exceptions=True)

    assert {type(each) for each in found[1:]} == {NotSent}
    assert (type(found[0]), len(backend.sent)) == (type(ends), 2)
    assert guard.requests_under_way == 0


async def test_a_write_that_waited_for_a_trial_does_not_leave_after_a_question() -> None:
    class Asked(BaseException):
        pass

    def refuse() -> None:
        raise Asked

    sendings, answer = Sendings(), asyncio.Event()
    to_shop, guard, backend = guarded(sendings, UpstreamTimeout(), answer, failures=1)
    backend.answers = reply()
    with pytest.raises(UpstreamTimeout):
        await sendings.start().send(to_shop, LOOK)
    sendings.clock.advance(2.0)
    sending = sendings.start(effect=Effect.WRITE)
    trial = asyncio.create_task(sending.send(to_shop, LOOK))
    await asyncio.sleep(0)
    write = asyncio.gather(sending.send(to_shop, ORDER), return_exceptions=True)
    await asyncio.sleep(0)
    sending.require_open = refuse
    answer.set()

    await trial
    assert [type(each) for each in await write] == [Asked]
    assert [each.method for each in backend.sent] == ["GET", "GET"]
    assert (guard.requests_under_way, sending.changes.have_begun) == (0, False)
