"""The errand over each transport."""

import asyncio

import pytest

from tests.workflow.gateways import on_mock, run_story
from tests.workflow.story import Story
from tests.workflow.transports import TRANSPORTS, OpenTransport


@pytest.fixture(scope="module", params=TRANSPORTS)
def open_transport(request: pytest.FixtureRequest) -> OpenTransport:
    """Each transport in turn."""
    return TRANSPORTS[request.param]


@pytest.fixture(scope="module")
def story(open_transport: OpenTransport, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The errand, run once over each transport of a fresh gateway on the mock."""
    return asyncio.run(run_story(on_mock, open_transport, tmp_path_factory.mktemp("gateway")))
