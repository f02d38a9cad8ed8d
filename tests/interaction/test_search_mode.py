"""The list mode `search`: five tools of the gateway instead of all tools of the contracts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from gateway.app import Gateway
from gateway.auth.principal import Credentials
from gateway.calls.call import Result
from gateway.contract.agent_view import OWN_TOOLS
from gateway.testing.gateways import Site, catalogue_under_test, mocked_settings, open_site
from gateway.testing.transports import MODERN
from gateway.transports.http.problems import Problem
from gateway.transports.mcp import own_tools, paths
from gateway.transports.mcp.caller import Caller
from gateway.transports.mcp.cancelling import CalledOff

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOBS = ["job_status", "job_result", "job_cancel"]
"""Listed because calls of golf and avinode may become jobs."""
FIVE = ["search_tools", "describe_tools", "call_read_tool", "call_write_tool", "call_destroy_tool"]
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN]
READER, WRITER, BROKER, ALL = "travel", "communication", "charter_broker", "administrator"
GRANTS = {
    READER: frozenset({"weather.get_weather", "avinode.search_flights"}),
    WRITER: frozenset({"gmail.send_email"}),
    BROKER: frozenset({"avinode.search_flights", "avinode.create_trip"}),
}
FLIGHT = {
    "departure_airport": "KTEB",
    "arrival_airport": "KMIA",
    "departure_date": "2027-03-01",
    "passengers": 4,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """The catalogue on mocks, whose agents all see lists in the mode `search`."""
    every = frozenset(entry.id for entry in catalogue_under_test().entries)
    grants = {**GRANTS, ALL: every}
    folder = tmp_path_factory.mktemp("search")
    async with open_site(folder, grants, grants, GATEWAY_LIST_MODE="search") as opened:
        yield opened


async def call(site: Site, agent: str, name: str, version: str = MODERN, **arguments: Any) -> Any:
    """The result of a call, or the protocol error."""
    answer = await site.mcp(agent, version, "tools/call", name=name, arguments=arguments)
    return answer.get("error") or answer["result"]


async def problem(site: Site, agent: str, name: str, **arguments: Any) -> dict[str, Any]:
    """The problem of a call that fails."""
    result = await call(site, agent, name, **arguments)
    assert result.get("isError") is True, result
    found: dict[str, Any] = result["_meta"]["contract-gateway/problem"]
    return found


async def listed(site: Site, agent: str, version: str = MODERN) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = (await site.mcp(agent, version, "tools/list"))["result"]["tools"]
    return tools


async def operations(site: Site) -> list[tuple[str, str]]:
    """The operation and the outcome of each audit record, oldest first."""
    audit = site.gateway.parts.audit
    await audit.flush()
    records = await site.gateway.parts.store.audit.latest(1000)
    return [(each.operation, each.outcome) for each in records[::-1]]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_list_is_five_tools_with_their_own_hints(site: Site, version: str) -> None:
    tools = await listed(site, ALL, version)
    assert [tool["name"] for tool in tools] == [*FIVE, "continue_result", *JOBS]
    if version != "2024-11-05":
        hints = {tool["name"]: tool["annotations"] for tool in tools}
        assert hints["call_read_tool"]["readOnlyHint"] is True
        assert hints["call_write_tool"]["readOnlyHint"] is False
        assert hints["call_destroy_tool"]["destructiveHint"] is True


@pytest.mark.parametrize(
    ("agent", "expected"),
    [(READER, FIVE[:3]), (WRITER, [*FIVE[:2], "call_write_tool"]), (BROKER, FIVE[:4])],
)
async def test_a_tool_is_listed_exactly_when_it_is_callable(
    site: Site, agent: str, expected: list[str]
) -> None:
    names = [tool["name"] for tool in await listed(site, agent)]
    assert [name for name in names if name != "continue_result"] == expected
    arguments = {"search_tools": {"query": "mail"}, "describe_tools": {"tools": ["none"]}}
    for name in FIVE:
        result = await call(site, agent, name, **arguments.get(name, {"tool": "none"}))
        is_known = result.get("message") != f"Unknown tool: {name}"
        assert is_known == (name in expected)


async def test_a_search_finds_granted_tools_only(site: Site) -> None:
    found = await call(site, READER, "search_tools", query="send an email or look at the weather")
    (weather, *_) = found["structuredContent"]["tools"]
    assert weather == {
        "name": "weather_get_weather",
        "description": weather["description"],
        "effect": "read",
        "call_with": "call_read_tool",
        "required": weather["required"],
    }
    names = {each["name"] for each in found["structuredContent"]["tools"]}
    assert names <= {"weather_get_weather", "avinode_search_flights"}


@pytest.mark.parametrize("query", ["погода 天気 ☃ 😀", "\u202e", "' OR 1=1 --", "a" * 200])
async def test_any_query_is_answered(site: Site, query: str) -> None:
    result = await call(site, READER, "search_tools", query=query)
    assert result["isError"] is False
    assert result["structuredContent"] == {"tools": []}


async def test_a_query_and_its_limit_are_bounded(site: Site) -> None:
    found = await problem(site, READER, "search_tools", query="a" * 201, limit=21, page=2)
    assert {each["pointer"] for each in found["errors"]} == {"/query", "/limit", "/page"}


@pytest.mark.parametrize("tool", ["search_tools", "call_read_tool", "", "x" * 128, "weather"])
async def test_a_call_tool_calls_neither_itself_nor_the_other_own_tools(
    site: Site, tool: str
) -> None:
    found = await problem(site, ALL, "call_read_tool", tool=tool, arguments={"query": "x"})
    assert [each["pointer"] for each in found["errors"]] == ["/tool"]


async def test_long_names_are_refused_before_they_are_searched(site: Site) -> None:
    found = await problem(site, READER, "call_read_tool", tool="x " * 65)
    assert [(each["pointer"], each["keyword"]) for each in found["errors"]] == [
        ("/tool", "maxLength")
    ]
    found = await problem(site, READER, "describe_tools", tools=["x " * 65])
    assert [each["pointer"] for each in found["errors"]] == ["/tools/0"]


@pytest.mark.parametrize("is_fast", [True, False])
async def test_a_call_with_wrong_arguments_of_a_call_tool_leaves_one_record(
    site: Site, is_fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As REST does. Searches and descriptions leave none, as lists leave none."""
    if not is_fast:
        monkeypatch.setattr(paths, "recognise", lambda headers, body: None)
    before = await operations(site)
    for name, wrong in (
        ("call_read_tool", {}),
        ("call_write_tool", {"tool": "gmail_send_email", "arguments": []}),
        ("call_destroy_tool", {"tool": "supabase_delete", "confirm": True}),
        ("continue_result", {"continuation": 7}),
        ("search_tools", {}),
        ("describe_tools", {"tools": "all"}),
    ):
        assert (await problem(site, ALL, name, **wrong))["code"] == "VALIDATION_ERROR"
    assert (await operations(site))[len(before) :] == [
        ("mcp:call_read_tool", "VALIDATION_ERROR"),
        ("mcp:call_write_tool", "VALIDATION_ERROR"),
        ("mcp:call_destroy_tool", "VALIDATION_ERROR"),
        ("mcp:continue_result", "VALIDATION_ERROR"),
    ]


async def test_a_description_is_what_the_full_list_shows(site: Site) -> None:
    result = await call(site, BROKER, "describe_tools", tools=["avinode_search_flights"])
    (described,) = result["structuredContent"]["tools"]
    entry = site.gateway.parts.catalogue.find_tool("avinode_search_flights")
    assert described["description"] == entry.listing.description
    assert described["inputSchema"]["required"] == entry.listing.input_schema["required"]
    assert (described["call_with"], described["writes_if"]) == ("call_read_tool", "create_trip")


async def test_descriptions_that_are_too_large_together_are_left_out_by_name(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["gmail_send_email", "supabase_query", "gmail_send_email", "weather_get_weather"]
    whole = await call(site, ALL, "describe_tools", tools=names)
    assert [each["name"] for each in whole["structuredContent"]["tools"]] == [
        "gmail_send_email",
        "supabase_query",
        "weather_get_weather",
    ]
    assert "left_out" not in whole["structuredContent"]
    monkeypatch.setattr(own_tools, "MAX_BYTES", 10)
    cut = (await call(site, ALL, "describe_tools", tools=names))["structuredContent"]
    assert [each["name"] for each in cut["tools"]] == ["gmail_send_email"]
    assert cut["left_out"] == ["supabase_query", "weather_get_weather"]


async def test_an_unknown_name_is_pointed_to_with_the_most_similar_one(site: Site) -> None:
    found = await problem(site, READER, "describe_tools", tools=["weather_get_weather", "weather"])
    (error,) = found["errors"]
    assert error["pointer"] == "/tools/1"
    assert "did you mean weather_get_weather?" in error["detail"]
    found = await problem(site, READER, "call_read_tool", tool="gmail_send_email")
    assert [each["pointer"] for each in found["errors"]] == ["/tool"]
    assert (await operations(site))[-1] == ("gmail.send_email", "TOOL_NOT_FOUND")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_call_is_the_direct_call(site: Site, version: str) -> None:
    arguments = {"query": "Teterboro"}
    direct = await call(site, ALL, "avinode_search_airports", version, **arguments)
    found = await call(
        site, ALL, "call_read_tool", version, tool="avinode_search_airports", arguments=arguments
    )
    assert found == direct
    assert (await operations(site))[-2:] == [("avinode.search_airports", "ok")] * 2


async def test_errors_point_into_the_arguments_of_the_called_tool(site: Site) -> None:
    wrong = {"query": "", "limit": "ten"}
    direct = await problem(site, ALL, "avinode_search_airports", **wrong)
    found = await problem(
        site, ALL, "call_read_tool", tool="avinode_search_airports", arguments=wrong
    )
    assert (found["code"], found["status"]) == (direct["code"], direct["status"])
    assert [(each["pointer"], each["keyword"], each["detail"]) for each in found["errors"]] == [
        (f"/arguments{each['pointer']}", each["keyword"], each["detail"])
        for each in direct["errors"]
    ]


@pytest.mark.parametrize(
    ("name", "tool", "right"),
    [
        ("call_read_tool", "gmail_send_email", "call_write_tool"),
        ("call_read_tool", "supabase_delete", "call_destroy_tool"),
        ("call_write_tool", "supabase_delete", "call_destroy_tool"),
        ("call_write_tool", "weather_get_weather", "call_read_tool"),
        ("call_destroy_tool", "gmail_send_email", "call_write_tool"),
    ],
)
async def test_a_tool_with_another_effect_is_refused_with_the_right_one(
    site: Site, name: str, tool: str, right: str
) -> None:
    found = await problem(site, ALL, name, tool=tool, arguments={"any": "thing"})
    assert (found["code"], found["status"]) == ("WRONG_EFFECT", 403)
    assert right in found["detail"]
    assert (await operations(site))[-1] == (tool.replace("_", ".", 1), "WRONG_EFFECT")


async def test_an_argument_that_makes_a_read_write_needs_the_tool_for_writes(site: Site) -> None:
    writing = {**FLIGHT, "create_trip": True}
    for agent, name, arguments, code in (
        (BROKER, "call_read_tool", writing, "WRONG_EFFECT"),
        (BROKER, "call_write_tool", FLIGHT, "WRONG_EFFECT"),
        (READER, "call_read_tool", writing, "PERMISSION_ERROR"),
    ):
        found = await problem(site, agent, name, tool="avinode_search_flights", arguments=arguments)
        assert found["code"] == code
    for name, arguments in (("call_read_tool", FLIGHT), ("call_write_tool", writing)):
        result = await call(site, BROKER, name, tool="avinode_search_flights", arguments=arguments)
        assert result["isError"] is False, result


@pytest.mark.parametrize("version", [MODERN, "2025-06-18"])
async def test_both_paths_answer_the_same(
    site: Site, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answers() -> list[Any]:
        return [
            await listed(site, ALL, version),
            await call(site, ALL, "search_tools", version, query="convert euros to dollars"),
            await call(site, ALL, "describe_tools", version, tools=["gmail_send_email"]),
            (await call(site, ALL, "call_write_tool", version, tool="weather_get_weather"))[
                "isError"
            ],
            (await call(site, ALL, "search_tools", version))["isError"],
        ]

    fast = await answers()
    monkeypatch.setattr(paths, "recognise", lambda headers, body: None)
    assert await answers() == fast


async def test_a_connectors_endpoint_searches_its_own_tools_by_their_short_names(
    site: Site,
) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_tools", "arguments": {"query": "send a mail about the weather"}},
    }
    reply = await site.post(ALL, "/mcp/gmail", body, mcp_protocol_version="2025-06-18")
    found = reply.json()["result"]["structuredContent"]["tools"]
    assert found[0]["name"] in {"send_email", "send_template_email"}
    assert "get_weather" not in {each["name"] for each in found}


async def test_over_stdio_the_tools_are_the_same(site: Site) -> None:
    tools = site.gateway.local_tools(ALL)
    principal = await tools.identify(Credentials())
    caller = Caller(
        principal=principal,
        credentials=Credentials(),
        transport="stdio",
        request_id="r",
        view=tools.view(principal),
    )
    assert [each.tool.name for each in tools.listed(caller)] == [*FIVE, "continue_result", *JOBS]
    arguments = b'{"tool":"avinode_search_airports","arguments":{"query":"Teterboro"}}'
    result = await tools.call(caller, "call_read_tool", arguments)
    assert isinstance(result, Result)
    assert result.values["airports"][0]["icao"] == "KTEB"


async def test_a_call_through_a_call_tool_is_bounded_and_cancelled_as_a_direct_one(
    site: Site,
) -> None:
    tools = site.gateway.local_tools(ALL)
    principal = await tools.identify(Credentials())
    caller = Caller(
        principal=principal,
        credentials=Credentials(),
        transport="mcp",
        request_id="r",
        session="s",
        view=tools.view(principal),
    )
    arguments = b'{"tool":"weather_get_weather","arguments":{"location":"Oslo"}}'
    running = asyncio.create_task(tools.call(caller, "call_read_tool", arguments, 7))
    await asyncio.sleep(0)
    tools.cancel(caller, 7)
    with pytest.raises(CalledOff):
        await running
    assert (await operations(site))[-1] == ("weather.get_weather", "CANCELLED")


async def test_other_lists_have_no_such_tools(tmp_path: Any) -> None:
    settings = mocked_settings(tmp_path, GATEWAY_LIST_MODE="full")
    async with Gateway.open(settings) as gateway:
        tools = gateway.local_tools(ALL)
        principal = await tools.identify(Credentials())
        caller = Caller(
            principal=principal,
            credentials=Credentials(),
            transport="stdio",
            request_id="r",
            view=tools.view(principal),
        )
        own = {each.tool.name for each in tools.listed(caller)} & OWN_TOOLS
        assert own == {"continue_result", *JOBS}
        outcome = await tools.call(caller, "search_tools", b'{"query":"mail"}')
        assert isinstance(outcome, Problem)
        assert outcome.code == "TOOL_NOT_FOUND"
