"""Property-based contract tests: derived from the catalogue, so a new tool is tested by existing.

`make test` spends a small budget; `--hypothesis-profile=thorough` a large one.
"""

import asyncio
from collections.abc import Iterator
from functools import cache

import pytest

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from tests.contract.faces import Faces, open_faces


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test that asks for an `operation_id` runs once for each operation there is."""
    if "operation_id" in metafunc.fixturenames:
        metafunc.parametrize("operation_id", _operation_ids())


@cache
def _operation_ids() -> list[str]:
    return [entry.id for entry in open_catalogue("generated", HANDLER_PACKAGES).entries]


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="session")
def faces(
    loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Faces]:
    """One gateway on mocks, seen over REST and both eras of MCP, in memory."""
    opening = open_faces(tmp_path_factory.mktemp("gateway"))
    yield loop.run_until_complete(opening.__aenter__())
    loop.run_until_complete(opening.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def catalogue(faces: Faces) -> Catalogue:
    return faces.catalogue
