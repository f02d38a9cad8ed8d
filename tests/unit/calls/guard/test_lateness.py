"""An upstream that hangs is known before timeouts say so, and one that is only slow is not shut."""

from collections.abc import Sequence
from typing import Final

import pytest

from gateway.calls.guard import LATE_SECONDS, WINDOW, Breaker, Passage, UpstreamGuard
from tests.clocks import ManualClock

ATTEMPT: Final = 10.0
UNKNOWN: Final = 4.0
"""How long an operation that never answered may take with `ATTEMPT`."""


class Shop:
    """A guarded upstream with an operation that answers at once, if `is_known`."""

    def __init__(self, *, is_known: bool = True, failures: int = 5) -> None:
        self.clock = ManualClock()
        self.guard = UpstreamGuard(
            "Shop", self.clock, max_requests=200, breaker=Breaker(self.clock, failures)
        )
        if is_known:
            self.answer([self.begin()])

    def begin(self, operation: str = "look") -> Passage:
        return self.guard.enter(operation, ATTEMPT)

    def hang(self, times: int = 5, operation: str = "look") -> list[Passage]:
        return [self.begin(operation) for _ in range(times)]

    def answer(self, asked: Sequence[Passage]) -> None:
        for each in asked:
            self.guard.leave(each, "success")

    def state_after(self, seconds: float) -> str:
        """The state as the next request finds it. That request says nothing."""
        self.clock.advance(seconds)
        self.guard._look_for_late(self.guard._breaker, self.clock.monotonic())  # type: ignore[arg-type]  # it has one
        return self.guard.state


@pytest.mark.parametrize(("is_known", "seconds"), [(True, LATE_SECONDS), (False, UNKNOWN)])
def test_requests_that_nothing_answers_open_it_before_they_time_out(
    *, is_known: bool, seconds: float
) -> None:
    shop = Shop(is_known=is_known)
    shop.hang()

    shop.clock.advance(seconds - 0.1)
    shop.guard.leave(shop.begin("other"), "none")
    assert shop.guard.state == "closed"
    shop.clock.advance(0.1)
    with pytest.raises(Exception, match="Shop failed repeatedly"):
        shop.begin()

    assert (shop.guard.state, shop.guard.requests_under_way) == ("open", 5)


def test_four_late_requests_do_not_open_it() -> None:
    shop = Shop()
    shop.hang(4)
    assert shop.state_after(ATTEMPT) == "closed"


def test_an_upstream_that_answers_meanwhile_does_not_hang() -> None:
    shop = Shop()
    shop.hang(operation="report")
    shop.clock.advance(1.0)
    shop.answer([shop.begin()])
    assert shop.state_after(ATTEMPT) == "closed"


@pytest.mark.parametrize(("slow", "state"), [(0, "closed"), (1, "open")])
def test_half_of_the_latest_requests_late_open_it_though_others_are_answered(
    *, slow: int, state: str
) -> None:
    shop = Shop()
    for each in range(WINDOW // 2 - 1 + slow):
        shop.hang(1)
        if each:
            shop.answer([shop.begin()])
    assert shop.state_after(LATE_SECONDS) == state


def test_an_operation_that_is_known_to_be_slow_is_waited_for() -> None:
    shop = Shop(is_known=False)
    for _ in range(20):
        asked = shop.hang(5)
        shop.clock.advance(UNKNOWN - 0.1)
        shop.answer(asked)

    shop.hang(10)

    assert shop.state_after(2 * (UNKNOWN - 0.1) - 0.1) == "closed"
    assert shop.state_after(0.2) == "open"


def test_a_slow_reply_is_forgotten_after_many_quick_ones() -> None:
    shop = Shop()
    slow = shop.begin()
    shop.clock.advance(8.0)
    shop.answer([slow])
    for _ in range(200):
        shop.answer([shop.begin()])
    shop.hang()
    assert shop.state_after(LATE_SECONDS) == "open"


def test_the_answer_to_a_suspected_request_closes_it_at_once() -> None:
    shop = Shop()
    asked = shop.hang()
    assert shop.state_after(LATE_SECONDS) == "open"

    shop.clock.advance(1.0)
    shop.answer(asked[:1])
    assert shop.guard.state == "closed"
    shop.answer(asked[1:])
    shop.hang(10)

    assert shop.state_after(2 * LATE_SECONDS) == "closed"


def test_after_a_trial_that_failed_no_old_answer_closes_it() -> None:
    shop = Shop()
    asked = shop.hang()
    shop.state_after(LATE_SECONDS)
    shop.clock.advance(2.0)
    shop.guard.leave(shop.begin(), "failure")

    shop.answer(asked)

    assert shop.guard.state == "open"


def test_a_trial_that_hangs_has_failed() -> None:
    shop = Shop()
    shop.hang()
    shop.state_after(LATE_SECONDS)
    shop.clock.advance(2.0)
    trial = shop.begin()
    assert (trial.is_trial, shop.guard.state) == (True, "half-open")

    assert shop.state_after(LATE_SECONDS) == "open"
    shop.answer([trial])
    assert shop.guard.state == "closed"


def test_requests_that_hang_since_an_earlier_period_do_not_open_it_again() -> None:
    shop = Shop()
    shop.hang()
    shop.state_after(LATE_SECONDS)
    shop.clock.advance(2.0)
    shop.answer([shop.begin()])
    assert shop.state_after(ATTEMPT) == "closed"


def test_requests_that_end_after_they_were_late_are_not_counted_twice() -> None:
    shop = Shop()
    for each in shop.hang(4):
        shop.state_after(LATE_SECONDS)
        shop.guard.leave(each, "failure")
    assert shop.guard.state == "closed"
    shop.guard.leave(shop.begin(), "failure")
    assert shop.guard.state == "open"


def test_callers_that_leave_a_hanging_upstream_do_not_hide_it() -> None:
    shop = Shop()
    asked = shop.hang()
    shop.clock.advance(LATE_SECONDS)

    for each in asked:
        shop.guard.leave(each, "none")

    assert shop.guard.state == "open"
