"""The errand over each transport, once for all tests."""

import asyncio

import pytest

from tests.workflow.gateways import on_mock, run_story
from tests.workflow.story import Story
from tests.workflow.transports import TRANSPORTS


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Story]:
    """The errand over each transport, each time of a fresh gateway on the mock."""
    return {
        name: asyncio.run(run_story(on_mock, opened, tmp_path_factory.mktemp("gateway")))
        for name, opened in TRANSPORTS.items()
    }


@pytest.fixture(params=TRANSPORTS)
def story(request: pytest.FixtureRequest, stories: dict[str, Story]) -> Story:
    """The errand over each transport in turn."""
    return stories[request.param]
