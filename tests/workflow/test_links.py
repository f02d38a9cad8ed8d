"""A request for proposal has a row, a state and its client's request from the first call on."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.workflow.desk import ROUTE, Agent, Desk, open_desk
from tests.workflow.desk import Result as Row

FLIGHT = {**ROUTE, "passengers": 6, "departure_date": "2026-12-01T10:00:00-05:00"}
OPERATORS = ["OP-001", "OP-002", "OP-003", "OP-008"]


async def client_request(agent: Agent) -> str:
    data = {**ROUTE, "client_name": "John", "departure_date": "2026-12-01", "passengers": 6}
    made = await agent.call("supabase_insert", table="iso_requests", data=data)
    return str(made["rows"][0]["id"])


async def all_quotes(desk: Desk, agent: Agent, rfp_id: str) -> list[Row]:
    """The rows of all quotes, once the webhooks have brought them."""
    desk.clock.advance(timedelta(hours=12))
    status = await agent.call("avinode_get_rfp_status", rfp_id=rfp_id)
    assert (status["status"], status["pending"]) == ("closed", 0)

    async def arrived() -> list[Row] | None:
        found = await agent.call("supabase_query", table="quotes", filters={"rfp_id": rfp_id})
        return list(found["rows"]) if found["count"] == status["quoted"] > 0 else None

    return await eventually(arrived)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_request_has_a_row_at_once_and_its_quotes_belong_to_the_client(
    mode: str, tmp_path: Path
) -> None:
    async with open_desk(tmp_path, ("flight_search",), mode) as desk:
        agent = desk.agents["flight_search"]
        request_id = await client_request(agent)
        made = await agent.call(
            "avinode_create_rfp",
            flight_details=FLIGHT,
            operator_ids=OPERATORS,
            request_id=request_id,
            special_requirements="Two dogs",
        )
        row = await agent.one("rfqs", rfp_id=made["rfp_id"])
        expected = {
            **ROUTE,
            "status": "open",
            "request_id": request_id,
            "departure_at": "2026-12-01T15:00:00Z",
            "passengers": 6,
            "quote_deadline_at": made["deadline"],
            "special_requirements": "Two dogs",
        }
        assert {name: row[name] for name in expected} == expected
        status = await agent.call("avinode_get_rfp_status", rfp_id=made["rfp_id"])
        assert status["status"] == "open"
        quotes = await all_quotes(desk, agent, made["rfp_id"])
        assert {each["request_id"] for each in quotes} == {request_id}
        of_client = {"request_id": request_id}
        found = await agent.call("supabase_query", table="quotes", filters=of_client)
        assert found["count"] == len(quotes)


async def test_quotes_follow_the_link_of_their_request_unless_an_agent_set_their_own(
    tmp_path: Path,
) -> None:
    async with open_desk(tmp_path, ("flight_search",)) as desk:
        agent = desk.agents["flight_search"]
        made = await agent.call("avinode_create_rfp", flight_details=FLIGHT, operator_ids=OPERATORS)
        of_rfp = {"rfp_id": made["rfp_id"]}
        first, *others = await all_quotes(desk, agent, made["rfp_id"])
        assert {each["request_id"] for each in (first, *others)} == {None}
        own, linked = await client_request(agent), await client_request(agent)
        for table, which, request_id in (
            ("quotes", {"quote_id": first["quote_id"]}, own),
            ("rfqs", of_rfp, linked),
        ):
            changed = await agent.call(
                "supabase_update", table=table, filters=which, data={"request_id": request_id}
            )
            assert changed["count"] == 1
        rows = (await agent.call("supabase_query", table="quotes", filters=of_rfp))["rows"]
        links = {each["quote_id"]: each["request_id"] for each in rows}
        assert links.pop(first["quote_id"]) == own
        assert set(links.values()) == {linked}


async def test_a_request_whose_deadline_is_over_is_expired(tmp_path: Path) -> None:
    async with open_desk(tmp_path, ("flight_search",)) as desk:
        agent = desk.agents["flight_search"]
        made = await agent.call(
            "avinode_create_rfp",
            flight_details=FLIGHT,
            operator_ids=OPERATORS,
            deadline="2026-11-20T14:30:01Z",
        )
        desk.clock.advance(timedelta(hours=1))
        status = await agent.call("avinode_get_rfp_status", rfp_id=made["rfp_id"])
        assert (status["status"], status["pending"]) == ("expired", 4)
