"""Every tool of this catalogue against every way in which its upstream can fail."""

from gateway.testing.suite.faults import *  # noqa: F403 - each module lists its tests
