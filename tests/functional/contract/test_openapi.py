"""The served OpenAPI document of this repository, with more requests."""

from gateway.testing.suite.openapi import *  # noqa: F403 - each module lists its tests
