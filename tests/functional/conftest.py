"""What the tests of whole programs share: each process of pytest starts it once."""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import httpx._config as httpx_config
import httpx._transports.default as httpx_transports
import httpx2._config as httpx2_config
import httpx2._transports.default as httpx2_transports
import pytest

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, run_gateway, running_gateway
from tests.postgres import PreparedDatabases, server_url


@pytest.fixture(scope="session", autouse=True)
def _certificates_once() -> Iterator[None]:
    """Every client of httpx, and each `httpx.post` has its own, reads all root certificates.

    That takes longer than most calls, and nobody here looks at them.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (httpx_transports, httpx2_transports):
            patch.setattr(module, "create_ssl_context", cache(module.create_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _patient_clients() -> Iterator[None]:
    """A client of httpx that names no timeout would give up after five seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (httpx_config, httpx2_config):
            for phase in ("connect", "read", "write", "pool"):
                patch.setattr(module.DEFAULT_TIMEOUT_CONFIG, phase, PATIENCE_SECONDS)
        yield


@pytest.fixture(scope="session")
def shared_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """A `gateway serve` of the whole catalogue on mocks, for all tests of this process.

    A test makes its own keys, agents, idempotency keys and data, counts nothing that another test
    may have made, and neither stops nor reloads the server.
    """
    with running_gateway(tmp_path_factory.mktemp("shared") / "data") as gateway:
        yield gateway


@pytest.fixture(scope="session")
def _initial_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("initial")
    run_gateway(folder, "init", "project", environment={"GATEWAY_SCHEMAS": ""})
    return folder / "project"


@pytest.fixture(scope="session")
def new_initial(_initial_project: Path) -> Callable[[Path], Path]:
    """Make a folder what `gateway init` makes of it: a copy, which takes no time."""

    def copied(folder: Path) -> Path:
        shutil.copytree(_initial_project, folder, dirs_exist_ok=True)
        return folder

    return copied


@pytest.fixture(scope="session")
def databases() -> Iterator[PreparedDatabases]:
    """Databases on PostgreSQL by name, for fixtures of a module and tests that need several."""
    server_url()
    prepared = PreparedDatabases()
    yield prepared
    prepared.close()


@pytest.fixture
def postgres_url(databases: PreparedDatabases) -> str:
    """An empty database on PostgreSQL. Tests run one after the other, so they share it."""
    return databases.url("one test")
