"""One running gateway, its three MCP transports, and what each client reported over each."""

from collections.abc import Iterator
from itertools import product
from typing import Final

import pytest

from tests.clients.conversation import ClientUnderTest, Door, HttpDoor, StdioDoor
from tests.clients.inspector import INSPECTOR_CLIENTS
from tests.clients.interview import STEPS, Conversation
from tests.clients.node_clients import NODE_CLIENTS, missing
from tests.clients.python_client import PYTHON_CLIENTS
from tests.gateway_process import GATEWAY, RunningGateway, running_gateway

CLIENTS: Final = (*PYTHON_CLIENTS, *NODE_CLIENTS, *INSPECTOR_CLIENTS)
DOORS: Final = ("http", "stdio", "bridge")


def _needs(client: ClientUnderTest) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.node,) if client.needs_node else ()


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """`gateway serve` on the mocks, shared by every test of this folder."""
    with running_gateway(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.fixture(scope="session")
def doors(gateway: RunningGateway, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Door]:
    """Every way for an MCP client to reach the gateway's tools, as an administrator."""
    own = tmp_path_factory.mktemp("stdio")
    return {
        "http": HttpDoor(f"{gateway.url}/mcp", gateway.authorization),
        "stdio": StdioDoor(
            str(GATEWAY), ("mcp", "--agent", "administrator", "--data", str(own)), {}
        ),
        "bridge": StdioDoor(
            str(GATEWAY), ("mcp", "--url", f"{gateway.url}/mcp"), {"GATEWAY_KEY": gateway.key}
        ),
    }


@pytest.fixture(
    scope="session",
    params=[pytest.param(client, id=client.name, marks=_needs(client)) for client in CLIENTS],
)
def client(request: pytest.FixtureRequest) -> ClientUnderTest:
    """Each client in each of its modes."""
    under_test: ClientUnderTest = request.param
    if under_test.needs_node and (reason := missing()):
        pytest.skip(reason)
    return under_test


@pytest.fixture(
    scope="session",
    params=[
        pytest.param((client, door), id=f"{client.name}-over-{door}", marks=_needs(client))
        for client, door in product(CLIENTS, DOORS)
    ],
)
def conversation(request: pytest.FixtureRequest, doors: dict[str, Door]) -> Conversation:
    """What one client received over one transport; run once, read by every test."""
    client, door = request.param
    if client.needs_node and (reason := missing()):
        pytest.skip(reason)
    held = client.converse(doors[door], STEPS)
    return Conversation(held.protocol, held.tools, held.answers, client)
