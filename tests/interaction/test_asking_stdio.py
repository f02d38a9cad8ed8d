"""Questions over stdio and over the bridge."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
    TextContent,
)
from pydantic import TypeAdapter

from gateway.transports.stdio.server import serve_stdio
from tests.bridged import bridged, pipes
from tests.interaction.asking_site import Handler, NameAndGreeting, open_asking
from tests.interaction.lifespan import on_a_socket
from tests.standard_streams import host as host_of

ROUND: TypeAdapter[Any] = TypeAdapter(InputRequiredResult | CallToolResult)


@asynccontextmanager
async def over_pipe(folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """The transport of a host that has started the gateway: two tools that ask."""
    async with open_asking(folder, NameAndGreeting()) as site:
        tools = site.gateway.local_tools("administrator")
        async with host_of(serve_stdio(tools, "1.2.3", max_message_bytes=65536)) as streams:
            yield streams


async def test_the_bridge_passes_questions_and_answers_on(tmp_path: Path) -> None:
    handler = Handler()
    async with (
        open_asking(tmp_path, handler, requires=("elicitation",)) as site,
        on_a_socket(site.app) as root,
    ):
        url = f"{root}/mcp"
        async with bridged(url, site.key) as client:
            hidden = {tool.name for tool in (await client.list_tools()).tools}
        async with bridged(url, site.key, elicitation_callback=Host(ACCEPTED).elicit) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            call = CallToolRequestParams(name="example_greet", arguments={"name": "Ada"})
            first = await client.session.send_request(CallToolRequest(params=call), ROUND)
            assert isinstance(first, InputRequiredResult)
            answer = ElicitResult(action="accept", content={"name": "Alice"})
            answered = {"input_responses": {"user": answer}, "request_state": first.request_state}
            call = call.model_copy(update=answered)
            second = await client.session.send_request(CallToolRequest(params=call), ROUND)

    assert "example_greet" in listed - hidden
    assert [*(first.input_requests or {})] == ["user"]
    assert isinstance(second, CallToolResult)
    assert second.structured_content == {"greeting": "accept Alice"}
    assert handler.effects == 1


class Host:
    """A host of the handshake revisions that answers what it is asked."""

    def __init__(self, answer: ElicitResult | ErrorData) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def elicit(self, _: Any, params: Any) -> ElicitResult | ErrorData:
        self.asked.append(params.message)
        return self.answer

    async def sample(self, _: Any, params: Any) -> CreateMessageResult:
        said = params.messages[0].content.text
        self.asked.append(said)
        return CreateMessageResult(
            role="assistant", content=TextContent(text=f"{said}!"), model="test"
        )

    def of(self, server: Any) -> Client:
        return Client(
            server,
            mode="legacy",
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
        )


ACCEPTED = ElicitResult(action="accept", content={"name": "Alice"})
OUTCOMES = [
    (ACCEPTED, {"greeting": "Greet Alice!"}, ["Your name?", "Greet Alice"]),
    (ElicitResult(action="decline"), {"greeting": "decline"}, ["Your name?"]),
    (
        ErrorData(code=-1, message="The user is out"),
        "The client did not answer user. It says: The user is out (-1).",
        ["Your name?"],
    ),
]


def outcome_of(result: CallToolResult) -> Any:
    """What came of a call: its result, or why it failed."""
    if not result.is_error:
        return result.structured_content
    assert result.meta is not None
    return result.meta["contract-gateway/problem"]["detail"]


@pytest.mark.parametrize(("answer", "outcome", "asked"), OUTCOMES)
async def test_a_host_of_the_handshake_revisions_is_asked_over_its_pipe(
    tmp_path: Path, answer: ElicitResult | ErrorData, outcome: Any, asked: list[str]
) -> None:
    host = Host(answer)
    async with host.of(over_pipe(tmp_path)) as client:
        result = await client.call_tool("example_greet", {"name": "Ada"})

    assert outcome_of(result) == outcome
    assert host.asked == asked


@pytest.mark.parametrize(("answer", "outcome", "asked"), OUTCOMES)
async def test_such_a_host_is_asked_through_the_bridge(
    tmp_path: Path, answer: ElicitResult | ErrorData, outcome: Any, asked: list[str]
) -> None:
    host = Host(answer)
    async with (
        open_asking(tmp_path, NameAndGreeting(), requires=("elicitation",)) as site,
        on_a_socket(site.app) as url,
        host.of(pipes(f"{url}/mcp", site.key)) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("example_greet", {"name": "Ada"})

    assert "example_greet" in listed
    assert outcome_of(result) == outcome
    assert host.asked == asked


INVALID = ElicitResult(action="accept", content={"name": 1})


async def test_an_answer_that_is_not_valid_ends_the_call_over_a_pipe(tmp_path: Path) -> None:
    host = Host(INVALID)
    async with host.of(over_pipe(tmp_path)) as client:
        result = await client.call_tool("example_greet", {"name": "Ada"})

    assert "The answer to user is not valid: /name" in outcome_of(result)
    assert host.asked == ["Your name?"]


async def test_an_answer_that_is_not_valid_ends_the_call_over_the_bridge(tmp_path: Path) -> None:
    host = Host(INVALID)
    async with (
        open_asking(tmp_path, NameAndGreeting()) as site,
        on_a_socket(site.app) as url,
        host.of(pipes(f"{url}/mcp", site.key)) as client,
    ):
        result = await client.call_tool("example_greet", {"name": "Ada"})

    assert "The answer to user is not valid: /name" in outcome_of(result)
    assert host.asked == ["Your name?"]


async def test_a_host_that_declares_nothing_is_refused_over_its_pipe(tmp_path: Path) -> None:
    async with Client(over_pipe(tmp_path), mode="legacy") as client:
        result = await client.call_tool("example_greet", {"name": "Ada"})

    assert outcome_of(result) == "The client must declare: elicitation."
