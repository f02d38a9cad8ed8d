"""What the last answers of an upstream say of it, for `/readyz`."""

import asyncio

import pytest

from gateway.backends.http.client import FAILURES, Health, UpstreamClient
from gateway.backends.wire import WireEncoder, WireRequest
from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.errors import UpstreamTimeout, UpstreamUnavailable
from tests.clocks import ManualClock
from tests.unit.calls.shop import UPSTREAM

LOOK = UpstreamRequest(operation="look", method="GET", path=("items", "1"))
SHORT = 0.02


@pytest.fixture
def health() -> Health:
    return Health(UPSTREAM)


def reply(status: int) -> Reply:
    return Reply(status=status, headers={}, body=b"")


def test_one_failure_is_no_problem_and_some_in_a_row_are(health) -> None:
    for _ in range(FAILURES - 1):
        health.failed()
    assert health.problem is None
    health.answered(reply(503))
    assert "is it reachable" in (health.problem or "")
    health.answered(reply(200))
    assert health.problem is None


@pytest.mark.parametrize("status", [200, 404, 422])
def test_any_answer_of_a_working_upstream_ends_a_row_of_failures(health, status) -> None:
    for _ in range(FAILURES - 1):
        health.failed()
    health.answered(reply(status))
    health.failed()
    assert health.problem is None


def test_rejected_credentials_are_a_problem_until_they_are_taken(health) -> None:
    health.answered(reply(401))
    assert "rejected the credentials (status 401)" in (health.problem or "")
    health.answered(reply(404))
    assert health.problem is not None, "it may check the path before the credentials"
    health.answered(reply(200))
    assert health.problem is None


class Wire:
    """Fails as configured, or never answers."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    async def exchange(self, request: WireRequest) -> Reply:
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def close(self) -> None: ...


def client(failure: Exception | None = None) -> UpstreamClient:
    encoder = WireEncoder(UPSTREAM, {})
    return UpstreamClient(UPSTREAM, ManualClock(), wire=Wire(failure), encoder=encoder, tokens=None)


async def test_an_upstream_that_lets_others_wait_is_a_problem() -> None:
    shop = client()
    for _ in range(FAILURES):
        with pytest.raises(UpstreamTimeout):
            await shop.send(LOOK, timeout_seconds=SHORT)
    assert shop.problem is not None


async def test_it_is_one_too_where_the_limit_of_the_call_ends_at_the_same_moment() -> None:
    """Whichever of the two is first: the task hears of the outer one alone."""
    shop = client()
    for _ in range(FAILURES):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT):
                await shop.send(LOOK, timeout_seconds=SHORT)
    assert shop.problem is not None


@pytest.mark.usefixtures("time_leaps")
async def test_what_a_caller_does_not_wait_for_says_nothing_of_the_upstream() -> None:
    shop = client()
    for _ in range(FAILURES):
        with pytest.raises(UpstreamTimeout):
            await shop.send(LOOK, timeout_seconds=SHORT, is_cut_short=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT):
                await shop.send(LOOK, timeout_seconds=SHORT, is_cut_short=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SHORT):
                await shop.send(LOOK, timeout_seconds=60)
    assert shop.problem is None


async def test_what_fails_before_a_callers_time_is_up_says_something_of_the_upstream() -> None:
    shop = client(UpstreamUnavailable("The upstream cannot be reached.", is_sent=False))
    for _ in range(FAILURES):
        with pytest.raises(UpstreamUnavailable):
            await shop.send(LOOK, timeout_seconds=60, is_cut_short=True)
    assert shop.problem is not None
