"""How many requests one upstream gets, and why a call is refused."""

import pytest

from gateway.calls.guard import LONGEST_PAUSE_SECONDS, Breaker, NotSent, UpstreamGuard
from gateway.errors import UpstreamRateLimited
from tests.clocks import ManualClock


def guard(clock: ManualClock | None = None, *, most: int = 200, failures: int = 5) -> UpstreamGuard:
    clock = clock or ManualClock()
    breaker = Breaker(clock, failures) if failures else None
    return UpstreamGuard("Shop", clock, max_requests=most, breaker=breaker)


def fail(of: UpstreamGuard, times: int) -> None:
    for _ in range(times):
        of.leave(of.enter("look", 10.0), "failure")


def test_no_more_requests_than_the_limit_are_under_way() -> None:
    shop = guard(most=2)
    first, _ = shop.enter("look", 10.0), shop.enter("look", 10.0)

    with pytest.raises(NotSent, match="Shop has 2 requests under way") as refused:
        shop.enter("look", 10.0)
    assert (refused.value.stage, refused.value.is_sent) == ("admit", False)
    assert (refused.value.is_retryable, refused.value.retry_after_seconds) == (True, 1.0)

    shop.leave(first, "none")
    shop.enter("look", 10.0)
    assert (shop.requests_under_way, shop.not_sent) == (2, 1)


def test_an_upstream_that_fails_gets_no_requests_for_a_while() -> None:
    clock = ManualClock()
    shop = guard(clock)
    assert shop.problem is None
    fail(shop, 5)

    with pytest.raises(NotSent, match="Shop failed repeatedly") as refused:
        shop.enter("look", 10.0)
    assert refused.value.retry_after_seconds == 2.0
    assert shop.problem is not None

    clock.advance(2.0)
    shop.leave(shop.enter("look", 10.0), "success")
    shop.enter("look", 10.0)
    assert (shop.state, shop.problem) == ("closed", None)


def test_a_full_upstream_gets_no_trial() -> None:
    clock = ManualClock()
    shop = guard(clock, most=1)
    fail(shop, 4)
    old = shop.enter("look", 10.0)
    shop.leave(old, "failure")
    clock.advance(2.0)

    trial = shop.enter("look", 10.0)
    clock.advance(60.0)
    with pytest.raises(NotSent, match="1 request under way"):
        shop.enter("look", 10.0)
    shop.leave(trial, "success")

    assert shop.state == "closed"


def test_an_upstream_that_asks_for_a_pause_gets_one() -> None:
    clock = ManualClock()
    shop = guard(clock)
    shop.pause(12)
    shop.pause(3)

    with pytest.raises(UpstreamRateLimited, match="asked for a pause") as refused:
        shop.enter("look", 10.0)
    assert refused.value.retry_after_seconds == 12
    clock.advance(12)
    shop.enter("look", 10.0)


def test_no_pause_is_longer_than_a_minute() -> None:
    clock = ManualClock()
    shop = guard(clock)
    shop.pause(86_400)
    clock.advance(LONGEST_PAUSE_SECONDS)
    shop.enter("look", 10.0)


def test_retries_add_at_most_a_fifth() -> None:
    shop = guard()
    requests = retries = 0
    for _ in range(1000):
        shop.leave(shop.enter("look", 10.0), "success")
        requests += 1
        while shop.may_repeat():
            shop.leave(shop.enter("look", 10.0), "success")
            retries += 1
    assert 200 <= retries <= 0.2 * requests + 10


def test_an_open_breaker_lets_nothing_be_repeated() -> None:
    shop = guard()
    fail(shop, 4)
    assert shop.may_repeat()
    fail(shop, 1)
    assert not shop.may_repeat()


def test_without_a_breaker_all_requests_are_sent() -> None:
    shop = guard(failures=0)
    fail(shop, 100)
    shop.pause(60)
    shop.enter("look", 10.0)
    assert all(shop.may_repeat() for _ in range(100))
    assert (shop.state, shop.problem) == ("closed", None)
