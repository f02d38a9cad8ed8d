"""What a client sees depends on its key, and on nothing else."""

import pytest

from tests.clients.conversation import ClientFailed, ClientUnderTest, HttpTransport, Step
from tests.gateway_process import RunningGateway

FLIGHT_SEARCH_TOOLS = [
    "avinode_create_rfp",
    "avinode_create_watch",
    "avinode_get_rfp_status",
    "avinode_search_airports",
    "avinode_search_empty_legs",
    "avinode_search_flights",
    "supabase_insert",
    "supabase_query",
    "supabase_update",
    "continue_result",  # the gateway's own: some of these reads return lists
    "job_status",  # the gateway's own too: avinode_create_rfp may become a job
    "job_result",
    "job_cancel",
]


@pytest.fixture(scope="session")
def agent_transport(gateway: RunningGateway) -> HttpTransport:
    """Streamable HTTP with a key of the agent `flight_search`."""
    key = gateway.create_key("flight_search")
    return HttpTransport(f"{gateway.url}/mcp", {"Authorization": f"Bearer {key}"})


def test_an_agent_is_shown_the_tools_of_its_grants_and_others_answer_like_unknown_ones(
    client: ClientUnderTest, agent_transport: HttpTransport
) -> None:
    steps = [Step("example_greet", {"name": "Ada"}), Step("example_nothing", {})]
    heard = client.converse(agent_transport, steps)
    assert [tool["name"] for tool in heard.tools] == FLIGHT_SEARCH_TOOLS
    denied, unknown = heard.answers
    assert denied.error is not None
    assert unknown.error is not None
    assert denied.error["code"] == unknown.error["code"]
    assert denied.error["message"].replace("greet", "nothing") == unknown.error["message"]


def test_a_wrong_key_opens_nothing(client: ClientUnderTest, gateway: RunningGateway) -> None:
    transport = HttpTransport(
        f"{gateway.url}/mcp", {"Authorization": "Bearer wrong-key-0123456789"}
    )
    # The Python client says of every refusal only that it got an error response.
    with pytest.raises(ClientFailed, match=r"401|auth|error response"):
        client.converse(transport, [])


def test_one_connector_answers_to_bare_names(
    client: ClientUnderTest, gateway: RunningGateway
) -> None:
    """On `/mcp/<connector>` a tool is called as in a server of that connector alone."""
    transport = HttpTransport(f"{gateway.url}/mcp/example", gateway.authorization)
    heard = client.converse(transport, [Step("greet", {"name": "Ada"})])
    assert [tool["name"] for tool in heard.tools] == ["calculate", "greet"]
    assert heard.answers[0].result is not None
    assert heard.answers[0].result["structuredContent"] == {"greeting": "Hello, Ada!"}
