"""Requests are repeated as often as promised, only when that is safe, never past the deadline."""

import asyncio
from contextlib import suppress

import pytest
from msgspec.structs import replace

from gateway.contract.operation import Attempts, Effect
from gateway.contract.upstream import UpstreamRequest
from gateway.errors import UpstreamTimeout, UpstreamUnavailable
from tests.unit.calls.shop import Sendings, connection, reply
from tests.unit.tables import each_of

THREE = Attempts(max=3, backoff_seconds=(1, 2))
LOOK = UpstreamRequest(operation="look", method="GET", path=("items", "1"))
ORDER = UpstreamRequest(operation="order", method="POST", path=("orders",))
PAY = UpstreamRequest(
    operation="pay", method="POST", path=("payments",), headers=(("idempotency-key", "k"),)
)


PASSING = [*map(reply, (429, 502, 503, 504)), UpstreamTimeout(), UpstreamUnavailable()]


@pytest.mark.parametrize("failure", PASSING)
async def test_a_passing_failure_is_tried_again_after_the_promised_waits(failure) -> None:
    sendings = Sendings()
    to_shop, backend = connection(failure, failure, reply())

    answer = await sendings.start(THREE).send(to_shop, LOOK)

    assert answer.status == 200
    assert len(backend.sent) == 3
    first, second = sendings.waits
    assert 1 <= first <= 1.25
    assert 2 <= second <= 2.5


@each_of("status", [400, 401, 403, 404, 409, 500, 501])
async def test_a_lasting_failure_is_answered_at_once(status: int) -> None:
    to_shop, backend = connection(reply(status))

    assert (await Sendings().start(THREE).send(to_shop, LOOK)).status == status
    assert len(backend.sent) == 1


async def test_only_the_statuses_that_the_contract_names_are_passing() -> None:
    attempts = Attempts(max=3, on=(503,))
    to_shop, backend = connection(reply(504))

    assert (await Sendings().start(attempts).send(to_shop, LOOK)).status == 504
    assert len(backend.sent) == 1


async def test_when_attempts_run_out_the_last_failure_is_answered() -> None:
    to_shop, backend = connection(reply(503))
    to_broken, broken = connection(UpstreamUnavailable("Broke."))

    assert (await Sendings().start(THREE).send(to_shop, LOOK)).status == 503
    with pytest.raises(UpstreamUnavailable, match="Broke"):
        await Sendings().start(THREE).send(to_broken, LOOK)
    assert (len(backend.sent), len(broken.sent)) == (3, 3)


async def test_without_a_promise_there_is_one_attempt() -> None:
    to_shop, backend = connection(reply(503))

    await Sendings().start().send(to_shop, LOOK)

    assert len(backend.sent) == 1


async def test_retry_after_is_waited_for_when_there_is_time() -> None:
    sendings = Sendings()
    to_shop, _ = connection(reply(429, retry_after="7"), reply())

    assert (await sendings.start(THREE).send(to_shop, LOOK)).status == 200
    assert 7 <= sendings.waits[0] <= 7 * 1.25


async def test_retry_after_beyond_the_deadline_ends_the_call_at_once() -> None:
    sendings = Sendings()
    to_shop, backend = connection(reply(429, retry_after="60"))

    assert (await sendings.start(THREE, seconds=30).send(to_shop, LOOK)).status == 429
    assert (sendings.waits, len(backend.sent)) == ([], 1)


async def test_no_attempt_gets_more_time_than_is_left_or_than_its_own() -> None:
    sendings = Sendings()
    attempts = Attempts(max=3, backoff_seconds=(8,), timeout_seconds=4)
    to_shop, backend = connection(reply(503))

    await sendings.start(attempts, seconds=20).send(to_shop, LOOK)

    assert backend.limits[0] == 4
    assert backend.limits[-1] <= 4
    assert all(limit > 0 for limit in backend.limits)
    assert sum(sendings.waits) < 20


@pytest.mark.parametrize(
    ("attempts", "is_cut_short", "says"),
    [
        (Attempts(), True, True),
        (Attempts(), False, False),
        (Attempts(timeout_seconds=9), True, True),
        (Attempts(timeout_seconds=2), True, False),
    ],
)
async def test_the_upstream_is_informed_whose_time_ends_the_request(
    attempts: Attempts, is_cut_short: bool, says: bool
) -> None:
    to_shop, backend = connection(reply())
    await Sendings().start(attempts, seconds=4, is_cut_short=is_cut_short).send(to_shop, LOOK)
    assert backend.hurried == [says]


async def test_a_handlers_time_limit_is_not_the_callers() -> None:
    to_shop, backend = connection(reply())
    sending = Sendings().start(seconds=4, is_cut_short=True)
    await sending.send(to_shop, LOOK, timeout_seconds=2)
    await sending.send(to_shop, LOOK, timeout_seconds=6)
    assert (backend.limits, backend.hurried) == ([2, 4], [False, True])


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DESTROY])
async def test_a_write_is_sent_once_whatever_happens(effect: Effect) -> None:
    for failure in (reply(429), reply(503), UpstreamTimeout(), UpstreamUnavailable(is_sent=False)):
        to_shop, backend = connection(failure)
        sending = Sendings().start(THREE, effect)
        with suppress(UpstreamTimeout, UpstreamUnavailable):
            await sending.send(to_shop, ORDER)
        assert len(backend.sent) == 1


async def test_a_write_that_the_upstream_can_recognise_is_repeated() -> None:
    to_shop, backend = connection(reply(503), reply())
    sending = Sendings().start(THREE, Effect.WRITE)

    assert (await sending.send(to_shop, PAY)).status == 200
    assert len(backend.sent) == 2
    assert not sending.changes.are_possible


async def test_a_key_of_our_own_is_for_this_call_alone() -> None:
    ours = replace(PAY, is_key_ours=True)
    to_shop, backend = connection(UpstreamTimeout())
    sending = Sendings().start(THREE, Effect.WRITE)

    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, ours)

    assert len(backend.sent) == 3
    assert sending.changes.are_possible


async def test_the_same_write_without_its_key_is_not() -> None:
    to_shop, backend = connection(reply(503), reply())
    keyless = UpstreamRequest(operation="pay", method="POST", path=("payments",))

    await Sendings().start(THREE, Effect.WRITE).send(to_shop, keyless)

    assert len(backend.sent) == 1


async def test_a_post_of_a_read_is_as_repeatable_as_any_read() -> None:
    to_shop, backend = connection(reply(503), reply())

    assert (await Sendings().start(THREE).send(to_shop, ORDER)).status == 200
    assert len(backend.sent) == 2


async def test_looking_first_leaves_no_doubt_and_writing_does() -> None:
    sendings = Sendings()
    sending = sendings.start(effect=Effect.WRITE)
    to_shop, _ = connection(UpstreamTimeout())
    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, LOOK)
    assert not sending.changes.are_possible

    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, ORDER)
    assert sending.changes.are_possible

    # What came before stays uncertain, however harmless the request that fails now.
    with pytest.raises(UpstreamTimeout):
        await sending.send(to_shop, LOOK)
    assert sending.changes.are_possible


async def test_what_was_never_sent_cannot_have_happened() -> None:
    sending = Sendings().start(effect=Effect.WRITE)
    to_shop, _ = connection(UpstreamUnavailable(is_sent=False))

    with pytest.raises(UpstreamUnavailable):
        await sending.send(to_shop, ORDER)

    assert not sending.changes.are_possible


@pytest.mark.parametrize("is_unsent", [True, False])
async def test_a_write_that_never_left_changes_nothing_when_its_call_runs_out_of_time(
    *, is_unsent: bool
) -> None:
    sending = Sendings().start()
    to_shop, backend = connection(asyncio.Event())
    call = asyncio.create_task(sending.send(to_shop, ORDER, effect=Effect.WRITE))
    while not backend.sent:  # noqa: ASYNC110 - until it has come so far
        await asyncio.sleep(0)
    assert sending.changes.are_possible
    backend.sent[0].departure.is_unsent = is_unsent

    call.cancel()
    with suppress(asyncio.CancelledError):
        await call

    assert sending.changes.are_possible is not is_unsent
