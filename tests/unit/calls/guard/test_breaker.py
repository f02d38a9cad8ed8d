"""When an upstream that fails gets no requests, and when it gets them again."""

import pytest

from gateway.calls.guard import (
    LONGEST_WAIT_SECONDS,
    SHORTEST_WAIT_SECONDS,
    WINDOW,
    Breaker,
    Verdict,
)
from tests.clocks import ManualClock


class Watched:
    """A breaker that opens after five failures in a row, and its clock."""

    def __init__(self, failures: int = 5) -> None:
        self.clock = ManualClock()
        self.breaker = Breaker(self.clock, failures)

    def request(self, verdict: Verdict) -> None:
        assert self.breaker.wait_seconds() == 0
        self.breaker.ended(verdict, self.breaker.begin())

    def fail(self, times: int) -> None:
        for _ in range(times):
            self.request("failure")

    def wait(self) -> float:
        waited = self.breaker.wait_seconds()
        self.clock.advance(waited)
        return waited


def test_failures_in_a_row_open_it() -> None:
    watched = Watched()

    watched.fail(4)
    assert (watched.breaker.state, watched.breaker.wait_seconds()) == ("closed", 0)
    watched.fail(1)

    assert watched.breaker.state == "open"
    assert watched.breaker.wait_seconds() == SHORTEST_WAIT_SECONDS


@pytest.mark.parametrize("failures", [1, 3, WINDOW])
def test_it_is_set_how_many_failures_in_a_row_open_it(failures: int) -> None:
    watched = Watched(failures)
    for verdict in ("success", *("failure",) * (min(failures, WINDOW // 2) - 1)):
        watched.request(verdict)
    assert watched.breaker.state == "closed"
    watched.fail(1)
    assert watched.breaker.state == "open"


def test_a_success_between_failures_keeps_it_closed() -> None:
    watched = Watched()
    for _ in range(WINDOW):
        watched.fail(2)
        for _ in range(3):
            watched.request("success")
    assert watched.breaker.state == "closed"


def test_half_of_the_last_requests_open_it() -> None:
    watched = Watched()
    for _ in range(WINDOW // 2 - 1):
        watched.request("failure")
        watched.request("success")
    assert watched.breaker.state == "closed"
    watched.fail(1)
    assert watched.breaker.state == "open"


def test_a_request_that_says_nothing_changes_nothing() -> None:
    watched = Watched()
    watched.fail(4)
    for _ in range(10):
        watched.request("none")
    assert watched.breaker.state == "closed"
    watched.fail(1)
    assert watched.breaker.state == "open"


def test_after_its_wait_one_request_decides() -> None:
    watched = Watched()
    watched.fail(5)
    watched.wait()

    trial = watched.breaker.begin()
    assert watched.breaker.state == "half-open"
    assert watched.breaker.wait_seconds() > 0
    watched.breaker.ended("success", trial)

    assert (watched.breaker.state, watched.breaker.wait_seconds()) == ("closed", 0)
    watched.fail(4)
    assert watched.breaker.state == "closed"


def test_it_waits_twice_as_long_after_each_trial_that_fails() -> None:
    watched = Watched()
    watched.fail(5)
    waits = []
    for _ in range(6):
        waits.append(watched.wait())
        watched.fail(1)
    assert waits == [2, 4, 8, 16, LONGEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS]

    watched.wait()
    watched.request("success")
    watched.fail(5)
    assert watched.breaker.wait_seconds() == SHORTEST_WAIT_SECONDS


def test_requests_that_began_before_do_not_decide() -> None:
    watched = Watched()
    old = [watched.breaker.begin() for _ in range(20)]
    watched.fail(5)

    watched.breaker.ended("success", old.pop())
    assert watched.breaker.state == "open"
    watched.wait()
    trial = watched.breaker.begin()
    watched.breaker.ended("success", old.pop())
    assert watched.breaker.state == "half-open"
    watched.breaker.ended("success", trial)
    for each in old:
        watched.breaker.ended("failure", each)
    assert watched.breaker.state == "closed"


@pytest.mark.parametrize("ends", [True, False], ids=["cancelled", "hanging"])
def test_a_trial_without_a_result_is_followed_by_another(*, ends: bool) -> None:
    watched = Watched()
    watched.fail(5)
    watched.wait()
    trial = watched.breaker.begin()
    if ends:
        watched.breaker.ended("none", trial)

    assert watched.breaker.wait_seconds() == SHORTEST_WAIT_SECONDS
    watched.wait()
    watched.request("success")

    assert watched.breaker.state == "closed"


def test_what_another_process_decided_is_taken_over() -> None:
    watched, posted = Watched(), list[str]()
    watched.breaker.on_change = lambda: posted.append(watched.breaker.state)

    watched.breaker.adopt(8.0, 5.0)
    assert (watched.breaker.state, watched.breaker.wait_seconds()) == ("open", 5.0)
    watched.wait()
    watched.fail(1)
    assert (watched.breaker.wait_seconds(), posted) == (16.0, ["open"])
    watched.breaker.adopt(0.0, 0.0)

    assert (watched.breaker.state, watched.breaker.wait_seconds()) == ("closed", 0.0)
    assert posted == ["open"]


def test_a_trial_under_way_decides_whatever_another_process_says() -> None:
    watched = Watched()
    watched.fail(5)
    watched.wait()
    trial = watched.breaker.begin()
    watched.breaker.adopt(30.0, 30.0)
    assert watched.breaker.wait_seconds() == 30.0
    watched.breaker.ended("success", trial)
    assert watched.breaker.state == "closed"


def test_no_process_can_shut_an_upstream_for_longer_than_the_longest_wait() -> None:
    watched = Watched()
    watched.breaker.adopt(1e9, 1e9)
    assert watched.breaker.wait_seconds() == LONGEST_WAIT_SECONDS
    watched.breaker.adopt(1.0, -5.0)
    assert (watched.breaker.wait, watched.breaker.wait_seconds()) == (SHORTEST_WAIT_SECONDS, 0.0)


def test_own_decisions_are_posted() -> None:
    watched, posted = Watched(), list[str]()
    watched.breaker.on_change = lambda: posted.append(watched.breaker.state)
    watched.fail(5)
    watched.wait()
    watched.fail(1)
    watched.wait()
    watched.request("success")
    assert posted == ["open", "open", "closed"]
