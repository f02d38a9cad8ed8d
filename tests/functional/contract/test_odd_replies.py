"""Every tool of this catalogue against every reply that is absurd in one place."""

import pytest

from gateway.testing.suite.replies import *  # noqa: F403 - each module lists its tests

pytestmark = pytest.mark.slow
