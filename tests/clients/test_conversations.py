"""Every client, in every era it speaks, over HTTP, stdio and the bridge, gets the same answers."""

import json
from typing import Any

import msgspec

from gateway.catalogue import ToolListing
from gateway.publication.listed import published
from gateway.publication.view import ToolView
from tests.clients.interview import Conversation
from tests.gateway_process import REPOSITORY

INVALID_PARAMS = -32602
UNGRANTED = "supabase_delete"
"""The one tool that no agent is granted."""
MADE_BY_THE_README = "avinode_airport_names"
"""The checkout of a reader of the README may contain it."""
OWN_TOOLS = ["continue_result", "job_status", "job_result", "job_cancel"]
"""The gateway's own: some of the tools return lists, and some become jobs."""


def test_a_client_speaks_the_revision_that_its_mode_asks_for(conversation: Conversation) -> None:
    assert conversation.protocol == conversation.client.protocol


def test_an_administrator_is_shown_exactly_the_granted_tools(conversation: Conversation) -> None:
    """Same tools, same order, same schemas as `generated/tools.json` in the default view."""
    granted = [tool for tool in published_tools() if tool["name"] != UNGRANTED]

    assert len([tool for tool in granted if tool["name"] != MADE_BY_THE_README]) == 45
    assert conversation.tools[:-4] == granted
    assert [tool["name"] for tool in conversation.tools[-4:]] == OWN_TOOLS


def test_a_handler_answers_with_structured_content(conversation: Conversation) -> None:
    assert conversation.greeting["structuredContent"] == {"greeting": "Hello, Ada!"}
    assert not conversation.greeting.get("isError")


def test_a_mocked_upstream_answers_with_structured_content(conversation: Conversation) -> None:
    content = conversation.airports["structuredContent"]
    assert "KTEB" in {airport["icao"] for airport in content["airports"]}


def test_the_text_block_says_the_same_as_the_structured_content(conversation: Conversation) -> None:
    for result in (conversation.greeting, conversation.airports):
        assert json.loads(text_of(result)) == result["structuredContent"]


def test_wrong_arguments_are_a_tool_error_that_points_at_them(conversation: Conversation) -> None:
    assert conversation.wrong_arguments["isError"] is True
    problem = json.loads(text_of(conversation.wrong_arguments))
    assert problem["code"] == "VALIDATION_ERROR"
    assert [error["pointer"] for error in problem["errors"]] == ["/name"]


def test_an_error_that_the_contract_declares_is_a_tool_error(conversation: Conversation) -> None:
    assert conversation.declared_error["isError"] is True
    problem = json.loads(text_of(conversation.declared_error))
    assert problem["code"] == "TOOL_EXECUTION_ERROR"


def test_an_unknown_tool_is_a_protocol_error(conversation: Conversation) -> None:
    assert conversation.unknown_tool is not None
    expected = "tool_not_found" if conversation.client.checks_names else INVALID_PARAMS
    assert conversation.unknown_tool["code"] == expected


def published_tools() -> list[dict[str, Any]]:
    """What `tools/list` shows of the tools that the generator has written."""
    text = (REPOSITORY / "generated" / "tools.json").read_bytes()
    listings = msgspec.json.decode(text, type=dict[str, list[ToolListing]])["tools"]
    return [msgspec.to_builtins(published(listing, ToolView())) for listing in listings]


def text_of(result: dict[str, Any]) -> str:
    """The one text block of a result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])
