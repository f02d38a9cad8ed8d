"""Official clients of the handshake revisions that answer what tools ask."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import httpx2
import msgspec
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, TextContent

from tests.clients.conversation import HttpTransport, StdioTransport, Transport
from tests.clients.node_clients import run_node
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import GATEWAY, RunningGateway

Asking: TypeAlias = Callable[[Transport, Sequence[Mapping[str, Any]]], dict[str, Any]]
STEPS: Final = (
    {"name": "conformance_test_elicitation", "arguments": {"message": "Who are you?"}},
    {"name": "conformance_test_sampling", "arguments": {"prompt": "It rains"}},
)
ANSWERS: Final = (
    "User response: action: accept, content: {'username': 'ada', 'email': 'ada@example.com'}",
    "LLM response: It rains, indeed",
)
OURS: Final = {"GATEWAY_SCHEMAS": "", "GATEWAY_DATABASE_URL": "memory:"}


@pytest.fixture
def transport(request: pytest.FixtureRequest, pack_project: Path) -> Transport:
    if request.param == "stdio":
        # The shell only changes to the folder of the project.
        command = f'cd "{pack_project}" && exec "{GATEWAY}" mcp --agent administrator'
        return StdioTransport("/bin/sh", ("-c", command), OURS)
    gateway: RunningGateway = request.getfixturevalue("pack_gateway")
    if request.param == "http":
        return HttpTransport(f"{gateway.url}/mcp", gateway.authorization)
    arguments = ("mcp", "--url", f"{gateway.url}/mcp")
    return StdioTransport(str(GATEWAY), arguments, {"GATEWAY_KEY": gateway.key})


def typescript(transport: Transport, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    order = msgspec.json.encode({"transport": transport, "steps": steps})
    done = run_node("asking_v1.mjs", text=order)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def python(transport: Transport, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return asyncio.run(_python(transport, steps))


async def _python(transport: Transport, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    asked = []

    async def elicit(_: Any, __: Any) -> ElicitResult:
        asked.append("elicitation/create")
        content: dict[str, Any] = {"username": "ada", "email": "ada@example.com"}
        return ElicitResult(action="accept", content=content)

    async def sample(_: Any, params: Any) -> CreateMessageResult:
        asked.append("sampling/createMessage")
        said = TextContent(text=f"{params.messages[0].content.text}, indeed")
        return CreateMessageResult(role="assistant", content=said, model="test")

    callbacks: dict[str, Any] = {"elicitation_callback": elicit, "sampling_callback": sample}
    headers = dict(transport.headers) if isinstance(transport, HttpTransport) else {}
    opened = httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS)
    async with asyncio.timeout(PATIENCE_SECONDS), opened as http:
        server: Any = (
            streamable_http_client(transport.url, http_client=http)
            if isinstance(transport, HttpTransport)
            else StdioServerParameters(
                command=transport.command, args=list(transport.args), env=dict(transport.env)
            )
        )
        async with Client(server, mode="legacy", **callbacks) as client:
            answers = [await client.call_tool(each["name"], each["arguments"]) for each in steps]
    shown = [{"result": each.model_dump(by_alias=True, mode="json")} for each in answers]
    return {"asked": asked, "answers": shown}


@pytest.mark.parametrize(
    ("ask", "transport"),
    [
        pytest.param(python, "http", id="python-over-http"),
        pytest.param(python, "stdio", id="python-over-stdio"),
        pytest.param(typescript, "http", id="typescript-over-http", marks=pytest.mark.node),
        pytest.param(typescript, "bridge", id="typescript-over-bridge", marks=pytest.mark.node),
    ],
    indirect=["transport"],
)
def test_a_client_answers_a_form_and_a_model(transport: Transport, ask: Asking) -> None:
    found = ask(transport, STEPS)

    texts = tuple(each["result"]["content"][0]["text"] for each in found["answers"])
    assert texts == ANSWERS
    assert found["asked"] == ["elicitation/create", "sampling/createMessage"]
