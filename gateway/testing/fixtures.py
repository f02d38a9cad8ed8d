"""The fixtures of the contract suite. A test that takes `gateway_operation` runs for each tool."""

import asyncio
from collections.abc import Iterator
from functools import cache

import pytest

from gateway.catalogue import Catalogue
from gateway.cli.project import open_project
from gateway.testing.faces import Faces, open_faces
from gateway.testing.sites import Site, open_site
from gateway.testing.under_test import project_under_test

OPERATION = "gateway_operation"
AGENT = "gateway_agent"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with `gateway_operation` for each tool, and with `gateway_agent` for each agent."""
    if OPERATION in metafunc.fixturenames:
        metafunc.parametrize(OPERATION, [entry.id for entry in _catalogue().entries])
    if AGENT in metafunc.fixturenames:
        metafunc.parametrize(AGENT, sorted(_catalogue().grants))


@cache
def _catalogue() -> Catalogue:
    return open_project(project_under_test())


@pytest.fixture(scope="session")
def gateway_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The event loop of the gateways under test."""
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="session")
def gateway_faces(
    gateway_loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Faces]:
    """The project on mocks over REST and both versions of MCP, with all tools granted."""
    opening = open_faces(tmp_path_factory.mktemp("gateway"))
    yield gateway_loop.run_until_complete(opening.__aenter__())
    gateway_loop.run_until_complete(opening.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def gateway_site(
    gateway_loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The project on mocks with its own policies, and a key for each agent."""
    opening = open_site(tmp_path_factory.mktemp("gateway"), sorted(_catalogue().grants))
    yield gateway_loop.run_until_complete(opening.__aenter__())
    gateway_loop.run_until_complete(opening.__aexit__(None, None, None))
