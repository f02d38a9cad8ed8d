"""Six agents and one request: each agent's own story, with its own key over MCP."""

import asyncio
from typing import Final

import pytest

from gateway.contract.agent_view import OWN_TOOLS
from tests.workflow.desk import ADMIN, CLIENT, ROUTE, WEIGHTS, Results, open_desk, run_all

GRANTED: Final = {
    "orchestrator": 3,
    "client_data": 7,
    "flight_search": 9,
    "proposal_analysis": 5,
    "communication": 5,
    "error_monitor": 4,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    return asyncio.run(run_all(tmp_path_factory.mktemp("desk")))


@pytest.mark.parametrize("agent", GRANTED)
def test_each_agent_sees_its_own_tools_alone(results, agent) -> None:
    assert len(results[agent]["tools"] - OWN_TOOLS) == GRANTED[agent]
    assert "supabase_delete" not in results[agent]["tools"]


def test_the_orchestrator_takes_up_the_request(results) -> None:
    part = results["orchestrator"]
    assert part["before"] == 0
    assert {name: part["request"][name] for name in ROUTE} == ROUTE
    assert (part["request"]["status"], part["request"]["priority"]) == ("new", "normal")
    assert part["workflow"]["request_id"] == part["request"]["id"]
    assert (part["workflow"]["state"], part["workflow"]["priority"]) == ("ANALYZING", "high")


def test_the_client_data_agent_finds_the_client_and_keeps_the_profile(results) -> None:
    part = results["client_data"]
    assert part["before"] == 0
    assert CLIENT in {each["client_id"] for each in part["found"]["clients"]}
    assert part["profile"]["email"] == results["orchestrator"]["request"]["client_email"]
    assert part["sheet"]["row_count"] > 0
    assert part["after"] == [part["cached"]]
    assert part["cached"]["aircraft_preference"] == "light"


def test_the_flight_search_agent_asks_operators_and_saves_what_it_found(results) -> None:
    part = results["flight_search"]
    assert "KVNY" in {each["icao"] for each in part["airports"]["airports"]}
    assert part["rfp"]["operators_notified"] == len(part["operators"]) > 2
    assert (part["at_once"]["quoted"], part["quotes_at_once"]) == (0, [])
    assert part["saved"]["rfp_id"] == part["rfp"]["rfp_id"]
    assert len(part["saved"]["flights"]) >= len(part["operators"])


def test_the_quotes_arrive_by_webhook_and_belong_to_the_request(results) -> None:
    part = results["quotes"]
    assert len(part["quotes"]) == part["status"]["quoted"] > 1
    assert {each["operator_id"] for each in part["quotes"]} <= set(
        results["flight_search"]["operators"]
    )
    assert {each["status"] for each in part["quotes"]} == {"received"}
    assert part["rfq"]["request_id"] == results["orchestrator"]["request"]["id"]
    assert {each["rfq_id"] for each in part["quotes"]} == {part["rfq"]["id"]}


def test_the_analysing_agent_scores_by_price_safety_speed_and_comfort(results) -> None:
    part = results["proposal_analysis"]
    scores, quotes = part["scores"], {each["quote_id"]: each for each in part["quotes"]}
    assert {each["quote_id"] for each in part["status"]["quotes"]} <= quotes.keys()
    assert {each["quote_id"] for each in scores} == quotes.keys()
    for score in scores:
        quote = quotes[score["quote_id"]]
        known = {"safety": "operator_rating", "speed": "flight_minutes"}
        assert set(score["missing"]) <= {"price", "comfort"}
        assert all(quote[column] is not None for column in known.values())
        assert ("price" in score["missing"]) == (quote["total_price_usd"] is None)
        assert ("comfort" in score["missing"]) == (quote["aircraft_category"] is None)
        total = sum(score[f"{name}_score"] * weight for name, weight in WEIGHTS.items())
        assert score["total_score"] == pytest.approx(total, abs=0.011)
    assert any(score["missing"] == [] for score in scores)
    assert [each["rank"] for each in scores] == sorted(each["rank"] for each in scores)
    assert len(part["saved"]) == len(scores)
    assert [each["rank"] for each in part["ranked"]] == [1, 2, 3][: len(scores)]


def test_the_analysing_agent_notes_what_it_owns_and_accepts_nothing(results) -> None:
    part = results["proposal_analysis"]
    assert "the webhook owns status of quotes" in part["refused"]
    assert part["noted"]["details"] == {"analysis": "best of all"}
    assert part["noted"]["status"] == "received"
    assert part["noted"]["request_id"] == results["orchestrator"]["request"]["id"]


def test_the_communication_agent_mails_the_best_proposals(results) -> None:
    part = results["communication"]
    assert [row["rank"] for row in part["best"]] == [1, 2, 3]
    assert part["best"][0]["quote_id"] == results["proposal_analysis"]["scores"][0]["quote_id"]
    assert part["seen"]["to"] == ["john@example.com"]
    assert all(row["operator_name"] in part["seen"]["body_text"] for row in part["best"])
    assert part["workflow"]["state"] == "COMPLETED"
    assert part["workflow"]["email_message_id"] == part["seen"]["message_id"]


def test_the_error_monitor_records_what_failed_and_alerts(results) -> None:
    part = results["error_monitor"]
    assert sorted(row["retry_count"] for row in part["errors"]) == [1, 2, 3]
    assert part["workflow"]["state"] == "FAILED"
    assert part["workflow"]["failure_reason"].startswith("Max retries exceeded")
    assert part["alert"]["recipients"]["to"] == [ADMIN]


async def test_no_agent_does_the_work_of_another(tmp_path) -> None:
    foreign = {
        "orchestrator": ("avinode_search_flights", {}),
        "client_data": ("gmail_send_email", {}),
        "flight_search": ("supabase_rpc", {}),
        "proposal_analysis": ("avinode_create_rfp", {}),
        "communication": ("supabase_insert", {}),
        "error_monitor": ("sheets_list_clients", {}),
    }
    async with open_desk(tmp_path) as desk:
        for name, (tool, arguments) in foreign.items():
            refusal = await desk.agents[name].fails(tool, **arguments)
            assert "nknown tool" in refusal or "not found" in refusal.lower(), refusal
