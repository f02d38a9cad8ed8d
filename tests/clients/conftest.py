"""One running gateway, its three MCP transports, and what each client reported over each."""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.clients.conversation import ClientUnderTest, HttpTransport, StdioTransport, Transport
from tests.clients.inspector import INSPECTOR_CLIENTS
from tests.clients.interview import STEPS, Conversation
from tests.clients.node_clients import NODE_CLIENTS, missing
from tests.clients.python_client import PYTHON_CLIENTS
from tests.gateway_process import GATEWAY, OURS, RunningGateway, running_gateway

CLIENTS: Final = (*PYTHON_CLIENTS, *NODE_CLIENTS, *INSPECTOR_CLIENTS)


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
    if client.needs_node and (reason := missing()):
        pytest.skip(reason)
    held = client.converse(transports[transport], STEPS)
    return Conversation(held.protocol, held.tools, held.answers, client)
