"""What the stdio commands say when they cannot help, and the ways to start them."""

import pytest

from tests.clients.conversation import MODERN, ClientFailed, StdioTransport, Step
from tests.clients.python_client import converse
from tests.gateway_process import GATEWAY, OURS, RunningGateway

NOBODY_LISTENS = "http://127.0.0.1:9/mcp"
OWN_TOOLS = {"continue_result", "job_status", "job_result", "job_cancel"}


def bridge(url: str, key: str) -> StdioTransport:
    """`gateway mcp --url`, as a host would start it."""
    return StdioTransport(str(GATEWAY), ("mcp", "--url", url), {"GATEWAY_KEY": key})


def test_the_bridge_says_that_its_key_is_refused_and_does_not_repeat_it(
    gateway: RunningGateway,
) -> None:
    with pytest.raises(ClientFailed, match=r"refused the key \(401\)") as failed:
        converse(MODERN, bridge(f"{gateway.url}/mcp", "wrong-key-0123456789"), [])
    assert "wrong-key" not in str(failed.value)


def test_the_bridge_says_that_the_remote_gateway_does_not_answer() -> None:
    with pytest.raises(ClientFailed, match="cannot be reached"):
        converse(MODERN, bridge(NOBODY_LISTENS, "any-key-0123456789"), [])


def test_the_bridge_serves_one_connector_under_its_bare_names(gateway: RunningGateway) -> None:
    transport = bridge(f"{gateway.url}/mcp/example", gateway.key)
    heard = converse(MODERN, transport, [Step("greet", {"name": "Ada"})])
    assert [tool["name"] for tool in heard.tools] == ["calculate", "greet"]


def test_run_speaks_mcp_on_stdio_when_the_environment_asks_for_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = str(tmp_path_factory.mktemp("run"))
    environment = {"MCP_TRANSPORT": "stdio", "GATEWAY_AGENT": "administrator", **OURS}
    transport = StdioTransport(str(GATEWAY), ("run", "--data", data), environment)
    heard = converse("auto", transport, [Step("example_greet", {"name": "Ada"})])
    assert heard.protocol == MODERN
    assert heard.answers[0].result is not None
    assert heard.answers[0].result["structuredContent"] == {"greeting": "Hello, Ada!"}


def test_an_agent_on_stdio_is_shown_its_own_tools(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = str(tmp_path_factory.mktemp("agent"))
    arguments = ("mcp", "--agent", "flight_search", "--data", data)
    heard = converse(MODERN, StdioTransport(str(GATEWAY), arguments, OURS), [])
    names = [tool["name"] for tool in heard.tools]
    granted = [name for name in names if name not in OWN_TOOLS]
    assert len(granted) == 9
    assert {name.partition("_")[0] for name in granted} == {"avinode", "supabase"}
