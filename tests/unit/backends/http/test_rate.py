"""What an upstream has reported about its own limit."""

import pytest

from gateway.backends.http.client import MAX_WAIT_SECONDS, RateState
from gateway.contract.upstream import RateHeaders
from gateway.errors import UpstreamRateLimited

RULES = RateHeaders(remaining="X-Remaining", reset_seconds="X-Reset")


def test_nothing_left_closes_until_the_reset():
    rate = RateState(RULES)
    rate.note({"x-remaining": "0", "x-reset": "30"}, 100.0)
    with pytest.raises(UpstreamRateLimited) as caught:
        rate.check(110.0)
    assert caught.value.retry_after_seconds == pytest.approx(20.0)
    rate.check(130.0)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-remaining": "1", "x-reset": "30"},
        {"x-remaining": "0"},
        {"x-remaining": "0", "x-reset": "soon"},
        {"x-remaining": "-1", "x-reset": "30"},
        {"x-remaining": "²", "x-reset": "30"},
    ],
)
def test_headers_that_do_not_say_so_close_nothing(headers):
    rate = RateState(RULES)
    rate.note(headers, 100.0)
    rate.check(100.0)


def test_an_upstream_is_believed_for_an_hour_at_most():
    rate = RateState(RULES)
    rate.note({"x-remaining": "0", "x-reset": "999999999"}, 0.0)
    rate.check(MAX_WAIT_SECONDS)


def test_an_upstream_without_rate_headers_is_never_closed():
    rate = RateState(None)
    rate.note({"x-remaining": "0", "x-reset": "30"}, 0.0)
    rate.check(0.0)
