"""The errand over each transport."""

import asyncio

import pytest

from tests.workflow.doors import DOORS, OpenDoor
from tests.workflow.gateways import on_mock, told
from tests.workflow.story import Story


@pytest.fixture(scope="module", params=DOORS)
def open_door(request: pytest.FixtureRequest) -> OpenDoor:
    """Each transport in turn."""
    return DOORS[request.param]


@pytest.fixture(scope="module")
def story(open_door: OpenDoor, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The errand, run once over each transport of a fresh gateway on the mock."""
    return asyncio.run(told(on_mock, open_door, tmp_path_factory.mktemp("gateway")))
