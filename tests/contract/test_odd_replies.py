"""The tools of this catalogue against replies that are absurd in one place."""

from gateway.testing.suite.replies import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.replies import defects


def test_no_reply_of_a_function_is_so_odd_that_the_gateway_fails(gateway_loop, gateway_live):
    """The rows of Supabase have no mock over HTTP; the function that scores quotes has one."""
    assert gateway_loop.run_until_complete(defects(gateway_live, "supabase.rpc")) == []
