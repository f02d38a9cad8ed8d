"""One running gateway, its three MCP transports, and what each client reported over each."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.clients.conversation import ClientUnderTest, HttpTransport, StdioTransport, Transport
from tests.clients.inspector import INSPECTOR_CLIENTS
from tests.clients.interview import STEPS, Conversation
from tests.clients.node_clients import NODE_CLIENTS, missing
from tests.clients.python_client import PYTHON_CLIENTS
from tests.conformance_pack.serve import PACK, make_project
from tests.gateway_process import GATEWAY, OURS, RunningGateway, running_gateway

CLIENTS: Final = (*PYTHON_CLIENTS, *NODE_CLIENTS, *INSPECTOR_CLIENTS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `node` where the npm clients are not there."""
    if item.get_closest_marker("node") and (reason := missing()):
        pytest.skip(reason)


@pytest.fixture(scope="session")
def new_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the tools of the conformance pack, to be copied."""
    folder = tmp_path_factory.mktemp("new") / "project"
    make_project(folder)
    return folder


@pytest.fixture(scope="session")
def pack_project(new_pack: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one in which `pack_gateway` runs."""
    return Path(shutil.copytree(new_pack, tmp_path_factory.mktemp("pack") / "project"))


@pytest.fixture(scope="session")
def pack_gateway(pack_project: Path) -> Iterator[RunningGateway]:
    """`gateway serve` of the pack."""
    with running_gateway(pack_project, environment=PACK) as running:
        yield running


def _needs(client: ClientUnderTest) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.node,) if client.needs_node else ()


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """`gateway serve` on the mocks, shared by every test of this folder."""
    with running_gateway(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.fixture(scope="session")
def transports(
    gateway: RunningGateway, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Transport]:
    """Every way for an MCP client to reach the gateway's tools, as an administrator."""
    own = tmp_path_factory.mktemp("stdio")
    return {
        "http": HttpTransport(f"{gateway.url}/mcp", gateway.authorization),
        "stdio": StdioTransport(
            str(GATEWAY), ("mcp", "--agent", "administrator", "--data", str(own)), OURS
        ),
        "bridge": StdioTransport(
            str(GATEWAY), ("mcp", "--url", f"{gateway.url}/mcp"), {"GATEWAY_KEY": gateway.key}
        ),
    }


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(client, id=client.name, marks=_needs(client))
        for client in CLIENTS
        if client.is_own_program
    ],
)
def client(request: pytest.FixtureRequest) -> ClientUnderTest:
    """Each client, in one of its modes for each era."""
    under_test: ClientUnderTest = request.param
    return under_test


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(
            (client, transport), id=f"{client.name}-over-{transport}", marks=_needs(client)
        )
        for client in CLIENTS
        for transport in client.transports
    ],
)
def conversation(request: pytest.FixtureRequest, transports: dict[str, Transport]) -> Conversation:
    """What one client received over one transport; run once, read by every test."""
    client, transport = request.param
    held = client.converse(transports[transport], STEPS)
    return Conversation(held.protocol, held.tools, held.answers, client)
