"""Each agent sees, with its own key, what the policy grants; everything else does not exist."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from msgspec import Struct

from gateway.app import Gateway
from gateway.settings import read_settings
from tests.contract.faces import HANDSHAKE, MODERN, lifespan
from tests.gateway_process import EXAMPLES_BEGIN

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
        "avinode.create_trip",
        "avinode.create_rfp",
        "avinode.get_quote_status",
        "avinode.get_quotes",
        "avinode.send_message",
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


class Site(Struct, frozen=True):
    """A gateway in memory, with a key for every agent."""

    gateway: Gateway
    client: httpx.AsyncClient
    keys: dict[str, str]

    async def post(self, agent: str, path: str, body: Any, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {
            "authorization": f"Bearer {self.keys[agent]}",
            "accept": "application/json, text/event-stream",
        }
        return await self.client.post(path, json=body, headers=named)

    async def mcp(self, agent: str, version: str, method: str, **params: Any) -> Any:
        headers = {"mcp_protocol_version": version}
        if version == MODERN:
            headers |= {"mcp_method": method} | (
                {"mcp_name": params["name"]} if "name" in params else {}
            )
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = await self.post(agent, "/mcp", body, **headers)
        data = [line[6:] for line in reply.text.splitlines() if line.startswith("data: ")]
        return json.loads(data[-1]) if data else reply.json()


@asynccontextmanager
async def open_site(data: Path) -> AsyncIterator[Site]:
    settings = read_settings({"GATEWAY_MOCK_TIME": EXAMPLES_BEGIN}, None, {"data": data})
    async with Gateway.open(settings) as gateway:
        create = gateway.parts.keys.create
        keys = {agent: (await create(agent, "test")).key for agent in GRANTED}
        application = gateway.http_app()
        transport = httpx.ASGITransport(app=application)  # type: ignore[arg-type]  # any ASGI callable
        async with (
            lifespan(application),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            yield Site(gateway, client, keys)


@pytest.fixture(scope="module")
def site(
    loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    opening = open_site(tmp_path_factory.mktemp("agents"))
    yield loop.run_until_complete(opening.__aenter__())
    loop.run_until_complete(opening.__aexit__(None, None, None))


def test_the_access_table_has_the_promised_sizes() -> None:
    assert [len(granted) for granted in GRANTED.values()] == [3, 7, 9, 5, 5, 4, 5, 3, 5]


@pytest.mark.parametrize("version", [MODERN, HANDSHAKE])
@pytest.mark.parametrize("agent", GRANTED)
def test_an_agent_lists_what_it_is_granted(loop, site, agent: str, version: str) -> None:
    answer = loop.run_until_complete(site.mcp(agent, version, "tools/list"))

    names = {tool["name"] for tool in answer["result"]["tools"]}
    assert names == {operation.replace(".", "_", 1) for operation in GRANTED[agent]}


@pytest.mark.parametrize("agent", GRANTED)
def test_every_other_tool_looks_unknown(loop, site, agent: str) -> None:
    entries = site.gateway.parts.catalogue.entries
    others = [entry for entry in entries if entry.id not in GRANTED[agent]]
    nothing = loop.run_until_complete(site.post(agent, "/v1/no/such", {}))
    unlisted = loop.run_until_complete(
        site.mcp(agent, MODERN, "tools/call", name="no_such", arguments={})
    )

    for entry in others:
        reply = loop.run_until_complete(site.post(agent, entry.operation.route, {}))
        assert reply.status_code == nothing.status_code == 404
        assert comparable(reply.json()) == comparable(nothing.json())
        answer = loop.run_until_complete(
            site.mcp(agent, MODERN, "tools/call", name=entry.tool.name, arguments={})
        )
        assert shape(answer) == shape(unlisted)


@pytest.mark.parametrize("agent", GRANTED)
def test_no_agent_may_delete(site, agent: str) -> None:
    assert not site.gateway.parts.policy.allows(agent, "supabase.delete")


def comparable(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem without what names the one call."""
    return {name: value for name, value in problem.items() if name != "request_id"}


def shape(answer: dict[str, Any]) -> Any:
    """An MCP error without what repeats the name that was asked for."""
    return {"code": answer["error"]["code"], "members": sorted(answer["error"])}
