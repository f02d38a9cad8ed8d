"""The work of a charter desk: six agents, each with its own key over MCP, and webhooks between.

One story, from the client's message to the mail with the proposals, and to the alert of a workflow
that failed. Each agent's part is what its document says that it does, with its own tools alone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from msgspec import Struct

from gateway.app import Gateway
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS, eventually
from tests.workflow.story import START

AGENTS: Final = (
    "orchestrator",
    "client_data",
    "flight_search",
    "proposal_analysis",
    "communication",
    "error_monitor",
)
ROUTE: Final = {"departure_airport": "KTEB", "arrival_airport": "KVNY"}
CLIENT: Final = "client-456"
ADMIN: Final = "admin@example.com"
WEIGHTS: Final = {"price": 0.30, "safety": 0.35, "speed": 0.15, "comfort": 0.20}
Result = dict[str, Any]


class Agent:
    """One agent at the gateway: its key, and the MCP session that the key opened."""

    def __init__(self, session: Client) -> None:
        self._session = session

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self._session.list_tools()).tools}

    async def call(self, tool: str, **arguments: Any) -> Result:
        """The result, which is no error."""
        result = await self._session.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return dict(result.structured_content or {})

    async def fails(self, tool: str, **arguments: Any) -> str:
        """What the refusal says."""
        try:
            result = await self._session.call_tool(tool, arguments)
        except Exception as error:  # noqa: BLE001 - an unknown tool is an error of the protocol
            return str(error)
        assert result.is_error
        return str(result.content[0])

    async def one(self, table: str, **filters: Any) -> Result:
        """The only row that matches."""
        (row,) = (await self.call("supabase_query", table=table, filters=filters))["rows"]
        return dict(row)


class Desk(Struct, frozen=True, kw_only=True):
    """A running gateway, its agents, and the time that they share."""

    agents: Mapping[str, Agent]
    clock: ManualClock


@asynccontextmanager
async def open_desk(
    data: Path, names: Sequence[str] = AGENTS, mode: str = "auto"
) -> AsyncIterator[Desk]:
    """A fresh gateway on mocks and SQLite, which sends itself the mock's signed webhooks."""
    clock = ManualClock(START)
    settings = read_settings(
        {"GATEWAY_DATA": str(data), "GATEWAY_SEED": "7", "GATEWAY_MOCK_SPEED": "1"}, None, {}
    )
    async with AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway.open(settings, clock=clock))
        url = await stack.enter_async_context(serving(gateway.http_app()))
        await stack.enter_async_context(gateway.at_work(url))
        agents = {}
        for name in names:
            key = (await gateway.parts.keys.create(name, "desk")).key
            agents[name] = Agent(await stack.enter_async_context(_session(url, key, mode)))
        yield Desk(agents=agents, clock=clock)


def _session(url: str, key: str, mode: str) -> AbstractAsyncContextManager[Client]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client

    return opened()


Results = dict[str, Result]
"""By agent, what it found and made."""
Part = Callable[[Desk, Agent, Results], Awaitable[Result]]


async def orchestrate(desk: Desk, agent: Agent, _: Results) -> Result:
    """Take up the client's request, and begin the work on it."""
    asked = await agent.call(
        "supabase_insert",
        table="iso_requests",
        data={
            **ROUTE,
            "client_name": "John Smith",
            "client_email": "john@example.com",
            "departure_date": "2026-12-01",
            "passengers": 4,
            "budget_usd": 90000,
            "message": "Four of us to Van Nuys on the first of December, with wifi please.",
        },
    )
    request = asked["rows"][0]
    about = {"request_id": request["id"]}
    seen = await agent.call("supabase_query", table="iso_workflows", filters=about)
    await agent.call(
        "supabase_insert",
        table="iso_workflows",
        data={**about, "state": "CREATED", "priority": "high", "metadata": {"urgency": "urgent"}},
    )
    moved = await agent.call(
        "supabase_update", table="iso_workflows", filters=about, data={"state": "ANALYZING"}
    )
    return {"request": request, "before": seen["count"], "workflow": moved["rows"][0]}


async def look_up_client(desk: Desk, agent: Agent, results: Results) -> Result:
    """Find who asks, and keep the profile at hand for the others."""
    email = results["orchestrator"]["request"]["client_email"]
    known = {"table": "client_cache", "filters": {"email": email}}
    before = await agent.call("supabase_query", **known)
    found = await agent.call("sheets_search_client", query="John Smith", fields=["name", "email"])
    profile = await agent.call("sheets_get_client_details", client_id=CLIENT)
    sheet = await agent.call("sheets_read_sheet", range="Preferences!A1:F3")
    preferences = profile["preferences"]
    cached = await agent.call(
        "supabase_insert",
        table="client_cache",
        data={
            "client_id": profile["client_id"],
            "name": profile["name"],
            "email": profile["email"],
            "vip_status": profile["vip_status"],
            "aircraft_preference": preferences.get("aircraft_category"),
            "preferences": preferences,
            "cached_at": desk.clock.now().isoformat(),
        },
    )
    after = await agent.call("supabase_query", **known)
    return {
        "before": before["count"],
        "found": found,
        "profile": profile,
        "sheet": sheet,
        "cached": cached["rows"][0],
        "after": after["rows"],
    }


async def search_flights(desk: Desk, agent: Agent, results: Results) -> Result:
    """Find aircraft, ask their operators, and write down what was found."""
    request = results["orchestrator"]["request"]
    airports = await agent.call("avinode_search_airports", query=request["arrival_airport"])
    flights = await agent.call(
        "avinode_search_flights",
        **ROUTE,
        departure_date=request["departure_date"],
        passengers=request["passengers"],
        min_operator_rating=4.0,
    )
    legs = await agent.call(
        "avinode_search_empty_legs",
        **ROUTE,
        date_range={"from": "2026-11-30", "to": "2026-12-02"},
        passengers=request["passengers"],
    )
    operators = sorted({each["operator"]["id"] for each in flights["aircraft"]})
    rfp = await agent.call(
        "avinode_create_rfp",
        flight_details={
            **ROUTE,
            "passengers": request["passengers"],
            "departure_date": "2026-12-01T15:00:00Z",
        },
        operator_ids=operators,
    )
    at_once = await agent.call("avinode_get_rfp_status", rfp_id=rfp["rfp_id"])
    saved = await agent.call(
        "supabase_insert",
        table="flight_options",
        data={
            "request_id": request["id"],
            "rfp_id": rfp["rfp_id"],
            "flights": flights["aircraft"],
            "empty_legs": legs["empty_legs"],
        },
    )
    return {
        "airports": airports,
        "operators": operators,
        "rfp": rfp,
        "at_once": at_once,
        "saved": saved["rows"][0],
        "quotes_at_once": (await _quotes(agent, rfp["rfp_id"])),
    }


async def wait_for_quotes(desk: Desk, agent: Agent, results: Results) -> Result:
    """A day passes; the operators answer by webhook, and the search agent notes whose they are."""
    rfp_id = results["flight_search"]["rfp"]["rfp_id"]
    desk.clock.advance(timedelta(days=1))
    status = await agent.call("avinode_get_rfp_status", rfp_id=rfp_id)

    async def arrived() -> list[Result] | None:
        quotes = await _quotes(agent, rfp_id)
        return quotes if len(quotes) >= status["quoted"] else None

    quotes = await eventually(arrived)
    mine = {"request_id": results["orchestrator"]["request"]["id"]}
    about = {"rfp_id": rfp_id}
    linked = await agent.call("supabase_update", table="rfqs", filters=about, data=mine)
    await agent.call("supabase_update", table="quotes", filters=about, data=mine)
    await agent.call(
        "supabase_update", table="flight_options", filters=about, data={"status": "quoted"}
    )
    return {"status": status, "quotes": quotes, "rfq": linked["rows"][0]}


async def _quotes(agent: Agent, rfp_id: str) -> list[Result]:
    found = await agent.call("supabase_query", table="quotes", filters={"rfp_id": rfp_id})
    return list(found["rows"])


async def analyse(desk: Desk, agent: Agent, results: Results) -> Result:
    """Score the quotes that arrived, and rank the best three."""
    option = await agent.one("flight_options", request_id=results["orchestrator"]["request"]["id"])
    rfp_id = option["rfp_id"]
    status = await agent.call("avinode_get_rfp_status", rfp_id=rfp_id, include_quotes=True)
    quotes = await _quotes(agent, rfp_id)
    scored = await agent.call(
        "supabase_rpc",
        function="calculate_quote_scores",
        params={
            "quotes": quotes,
            "client_preferences": {"max_budget": 90000, "amenities": ["wifi"]},
            "weights": WEIGHTS,
        },
    )
    scores = scored["result"]["scores"]
    rows = [{name: score[name] for name in score if name != "missing"} for score in scores]
    saved = await agent.call(
        "supabase_insert", table="quote_scores", data=[{**row, "rfp_id": rfp_id} for row in rows]
    )
    by_id = {quote["quote_id"]: quote for quote in quotes}
    proposals = [
        {
            "request_id": option["request_id"],
            "rfp_id": rfp_id,
            "quote_id": score["quote_id"],
            "rank": place,
            "total_score": score["total_score"],
            **{
                name: by_id[score["quote_id"]][name]
                for name in ("operator_name", "aircraft_type", "total_price_usd")
            },
        }
        for place, score in enumerate(scores[:3], 1)
    ]
    ranked = await agent.call("supabase_insert", table="ranked_proposals", data=proposals)
    refused = await agent.fails(
        "supabase_update", table="quotes", filters={"rfp_id": rfp_id}, data={"status": "accepted"}
    )
    noted = await agent.call(
        "supabase_update",
        table="quotes",
        filters={"quote_id": scores[0]["quote_id"]},
        data={"details": {"analysis": "best of all"}},
    )
    return {
        "status": status,
        "quotes": quotes,
        "scores": scores,
        "saved": saved["rows"],
        "ranked": ranked["rows"],
        "refused": refused,
        "noted": noted["rows"][0],
    }


async def mail(desk: Desk, agent: Agent, results: Results) -> Result:
    """Send the three best proposals to the client, and end the work."""
    about = {"request_id": results["orchestrator"]["request"]["id"]}
    best = await agent.call(
        "supabase_query",
        table="ranked_proposals",
        filters=about,
        orderBy={"column": "rank", "ascending": True},
        limit=3,
    )
    client = await agent.one("client_cache", client_id=CLIENT)
    names = ("rank", "operator_name", "aircraft_type", "total_price_usd")
    lines = [", ".join(str(row[name]) for name in names) for row in best["rows"]]
    letter = {
        "to": client["email"],
        "subject": "Your charter flight options: KTEB - KVNY, 1 December",
        "body": "\n".join([f"Dear {client['name']},", *lines]),
    }
    draft = await agent.call("gmail_create_draft", **letter)
    sent = await agent.call("gmail_send_email", **letter)
    seen = await agent.call("gmail_get_email", message_id=sent["message_id"])
    done = await agent.call(
        "supabase_update",
        table="iso_workflows",
        filters=about,
        data={
            "state": "COMPLETED",
            "email_sent_at": desk.clock.now().isoformat(),
            "email_message_id": sent["message_id"],
        },
    )
    return {"best": best["rows"], "draft": draft, "seen": seen, "workflow": done["rows"][0]}


async def monitor(desk: Desk, agent: Agent, results: Results) -> Result:
    """Note an error of another agent, see that it was tried too often, and alert people."""
    workflow = results["orchestrator"]["workflow"]
    task = {"task_id": "task-456"}
    for count in (1, 2, 3):
        await agent.call(
            "supabase_insert",
            table="agent_errors",
            data={
                **task,
                "workflow_id": workflow["id"],
                "agent_type": "flight_search",
                "error_type": "avinode_timeout",
                "error_message": "API request timed out after 30s",
                "retry_count": count,
                "occurred_at": desk.clock.now().isoformat(),
            },
        )
    errors = await agent.call(
        "supabase_query", table="agent_errors", filters=task, select="retry_count"
    )
    failed = await agent.call(
        "supabase_update",
        table="iso_workflows",
        filters={"id": workflow["id"]},
        data={
            "state": "FAILED",
            "failed_at": desk.clock.now().isoformat(),
            "failure_reason": "Max retries exceeded (3) for Avinode API",
        },
    )
    alert = await agent.call(
        "gmail_send_email",
        to=ADMIN,
        subject=f"CRITICAL: workflow {workflow['id']} failed",
        body="Max retries exceeded (3) for Avinode API",
    )
    return {"errors": errors["rows"], "workflow": failed["rows"][0], "alert": alert}


STORY: Final[tuple[tuple[str, str, Part], ...]] = (
    ("orchestrator", "orchestrator", orchestrate),
    ("client_data", "client_data", look_up_client),
    ("flight_search", "flight_search", search_flights),
    ("quotes", "flight_search", wait_for_quotes),
    ("proposal_analysis", "proposal_analysis", analyse),
    ("communication", "communication", mail),
    ("error_monitor", "error_monitor", monitor),
)
"""What is reported under which name, by which agent."""


async def run_all(data: Path) -> Results:
    """Run the whole story on a fresh gateway, and ask each agent for its tools."""
    results: Results = {}
    async with open_desk(data) as desk:
        for name, agent, part in STORY:
            results[name] = await part(desk, desk.agents[agent], results)
        for name in AGENTS:
            results[name]["tools"] = await desk.agents[name].tools()
    return results
