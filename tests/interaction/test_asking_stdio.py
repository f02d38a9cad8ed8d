"""Rounds of questions over the bridge, in revision 2026-07-28."""

from pathlib import Path

from mcp_types import CallToolRequestParams, CallToolResult, ElicitResult, InputRequiredResult

from gateway.transports.stdio.bridge import RemoteGateway
from tests.interaction.asking_site import Handler, open_asking
from tests.interaction.lifespan import on_a_socket

ASKS = frozenset({"elicitation"})


async def test_the_bridge_passes_questions_and_answers_on(tmp_path: Path) -> None:
    handler = Handler()
    async with (
        open_asking(tmp_path, handler, requires=("elicitation",)) as site,
        on_a_socket(site.app) as url,
        RemoteGateway(f"{url}/mcp", site.key) as remote,
    ):
        listed = {tool.name for tool in (await remote.list_tools(None, asks=ASKS)).tools}
        hidden = {tool.name for tool in (await remote.list_tools(None)).tools}
        call = CallToolRequestParams(name="example_greet", arguments={"name": "Ada"})
        first = await remote.call_tool(call, asks=ASKS)
        assert isinstance(first, InputRequiredResult)
        answer = ElicitResult(action="accept", content={"name": "Alice"})
        answered = {"input_responses": {"user": answer}, "request_state": first.request_state}
        second = await remote.call_tool(call.model_copy(update=answered), asks=ASKS)

    assert "example_greet" in listed - hidden
    assert [*(first.input_requests or {})] == ["user"]
    assert isinstance(second, CallToolResult)
    assert second.structured_content == {"greeting": "accept Alice"}
    assert handler.effects == 1
