"""No secret of any upstream of this catalogue is reported."""

from gateway.testing.live import CANARY
from gateway.testing.suite.secrets import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.secrets import found


def test_a_secret_is_noticed():
    assert found(f"Bearer {CANARY}-key") == [CANARY]
    assert found("Bearer") == []
