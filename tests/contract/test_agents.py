"""Each agent sees, with its own key, what the policy grants; everything else does not exist."""

import asyncio
from collections.abc import Iterator
from typing import Final

import pytest

from gateway.testing.fixtures import opened
from gateway.testing.gateways import Site, open_site
from gateway.testing.transports import HANDSHAKE, MODERN

QUERY, INSERT, UPDATE = "supabase.query", "supabase.insert", "supabase.update"
GRANTED: Final = {
    "orchestrator": {QUERY, INSERT, UPDATE},
    "client_data": {
        "sheets.list_clients",
        "sheets.search_client",
        "sheets.get_client_details",
        "sheets.read_sheet",
        QUERY,
        INSERT,
        UPDATE,
    },
    "flight_search": {
        "avinode.search_flights",
        "avinode.search_empty_legs",
        "avinode.create_rfp",
        "avinode.get_rfp_status",
        "avinode.create_watch",
        "avinode.search_airports",
        INSERT,
        UPDATE,
        QUERY,
    },
    "proposal_analysis": {"avinode.get_rfp_status", QUERY, INSERT, UPDATE, "supabase.rpc"},
    "communication": {"gmail.send_email", "gmail.create_draft", "gmail.get_email", QUERY, UPDATE},
    "error_monitor": {INSERT, UPDATE, QUERY, "gmail.send_email"},
    "charter_broker": {
        "avinode.search_airports",
        "avinode.create_trip",
        "avinode.create_rfp",
        "avinode.get_quote_status",
        "avinode.get_quotes",
        "avinode.send_message",
        "entities.trips",
        "entities.requests",
        "entities.quotes",
        "entities.conversations",
        "entities.messages",
        "entities.bookings",
    },
    "travel": {"amadeus.get_airport_code", "amadeus.search_flights", "amadeus.search_hotels"},
    "golf_concierge": {
        "golf.get_reservations",
        "golf.search_tee_times",
        "golf.book_tee_time",
        "weather.get_weather",
        "ntfy.send_push_notification",
    },
}
"""Written down again: the policy file must not be checked against itself."""
MAY_BECOME_JOBS: Final = {"avinode.create_rfp", "golf.book_tee_time"}
JOB_TOOLS: Final = {"job_status", "job_result", "job_cancel"}


@pytest.fixture(scope="module")
def site(
    gateway_loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    yield from opened(
        gateway_loop, open_site(tmp_path_factory.mktemp("agents"), [*GRANTED, "administrator"])
    )


def test_the_access_table_has_the_promised_sizes() -> None:
    assert [len(granted) for granted in GRANTED.values()] == [3, 7, 9, 5, 5, 4, 12, 3, 5]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
@pytest.mark.parametrize("agent", GRANTED)
def test_an_agent_lists_what_it_is_granted(gateway_loop, site, agent: str, version: str) -> None:
    answer = gateway_loop.run_until_complete(site.mcp(agent, version, "tools/list"))

    names = {tool["name"] for tool in answer["result"]["tools"]}
    # Every agent has a read whose results may have a list.
    expected = {operation.replace(".", "_", 1) for operation in GRANTED[agent]}
    may_become_jobs = bool(MAY_BECOME_JOBS & set(GRANTED[agent]))
    assert names == expected | {"continue_result"} | (JOB_TOOLS if may_become_jobs else set())


def test_no_agent_may_delete(site) -> None:
    allows = site.gateway.parts.policy.allows
    assert [agent for agent in GRANTED if allows(agent, "supabase.delete")] == []


@pytest.mark.parametrize(
    ("agent", "status", "named"),
    [
        ("flight_search", 200, ()),
        ("travel", 422, ()),
        ("golf_concierge", 404, ()),
        ("administrator", 404, ("amadeus.search_flights", "avinode.search_flights")),
    ],
)
def test_a_bare_name_is_that_of_the_only_tool_that_is_granted(
    gateway_loop, site, agent: str, status: int, named: tuple[str, ...]
) -> None:
    flight = {
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "passengers": 6,
        "departure_date": "2031-12-01",
    }
    call = {"name": "search_flights", "arguments": flight}
    reply = gateway_loop.run_until_complete(site.post(agent, "/tools/execute", call))
    assert reply.status_code == status, reply.text
    assert all(name in reply.json()["error"]["message"] for name in named)


@pytest.mark.parametrize(
    ("tool", "arguments", "pointer"),
    [
        ("avinode/search_airports", {"query": " \t"}, "/query"),
        ("ntfy/send_push_notification", {"message": "x", "title": "a\nb"}, "/title"),
    ],
)
def test_a_text_without_meaning_is_refused(gateway_loop, site, tool, arguments, pointer) -> None:
    reply = gateway_loop.run_until_complete(site.post("administrator", f"/v1/{tool}", arguments))
    assert reply.status_code == 422
    assert [each["pointer"] for each in reply.json()["errors"]] == [pointer]
