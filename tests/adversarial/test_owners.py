"""Agents that write a provider's columns, and providers whose messages block all later ones."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.app import Gateway
from gateway.errors import GatewayError, InvalidArguments
from gateway.settings import read_settings
from tests.avinode_messages import LATER, changes_of, message, rows_after
from tests.interaction.test_entities import arrive

AGENTS = [
    "orchestrator",
    "flight_search",
    "proposal_analysis",
    "communication",
    "error_monitor",
    "administrator",
]
"""Those with the table: `client_data` reaches no quotes at all, as tests/contract shows."""
FORGED = {
    "status": "accepted",
    "price": 1,
    "total_price_usd": 1,
    "operator_rating": 5,
    "state_log": None,
    "quote_id": "Q-2",
    "id": "a",
}


@pytest.mark.attack(
    "An agent writes a provider's columns of a quote: accepts it, changes its price or its log,"
    " adds a quote or removes one.",
    required="Each column is refused with 422, its name and its owner; the row is as it was.",
)
async def test_an_agent_cannot_speak_for_a_provider(tmp_path) -> None:
    settings = read_settings({"GATEWAY_DATA": str(tmp_path)}, None, {})
    async with Gateway.open(settings) as gateway:
        await arrive(gateway.parts.store, 1, status="received", price=12000.5)
        for agent in AGENTS:
            await forge(gateway, agent)


async def forge(gateway: Gateway, agent: str) -> None:
    """All that `agent` tries is refused."""
    query = ("supabase.query", {"table": "quotes"})
    before = await gateway.call(*query, agent=agent)
    mine = {"table": "quotes", "filters": {"quote_id": "Q-1"}}
    for name, value in FORGED.items():
        with pytest.raises(InvalidArguments) as refused:
            await gateway.call("supabase.update", {**mine, "data": {name: value}}, agent=agent)
        (violation,) = refused.value.violations
        assert violation.pointer == f"/data/{name}"
        assert f" owns {name} of quotes" in violation.detail
    for tool, arguments in (
        ("supabase.insert", {"table": "quotes", "data": FORGED}),
        ("supabase.delete", mine),
    ):
        with pytest.raises(GatewayError) as failed:
            await gateway.call(tool, arguments, agent=agent)
        if isinstance(failed.value, InvalidArguments):
            places = [violation.pointer for violation in failed.value.violations]
            assert "/table" in places, "the tool is not for this table"
    assert await gateway.call(*query, agent=agent) == before
    assert before["count"] == 1


@pytest.mark.attack(
    "A provider's message is dated decades ahead, so that nothing later could replace it.",
    required="It counts from its arrival; the next message replaces what it said.",
)
@pytest.mark.parametrize("year", [2027, 2062, 9999])
def test_a_message_from_the_future_freezes_nothing(year) -> None:
    future = message("trip_created", trip_id="T-1", deep_link="https://b.avinode.com/")
    future["timestamp"] = datetime(year, 1, 1, tzinfo=UTC).isoformat()
    cancelled = {**message("trip_cancelled", trip_id="T-1"), "timestamp": LATER.isoformat()}
    authentic = {**message("trip_updated", trip_id="T-1", deep_link="https://a.avinode.com/")}
    authentic["timestamp"] = LATER.isoformat()
    early = LATER - timedelta(hours=1)
    changes = [*changes_of(future, early), *changes_of(authentic), *changes_of(cancelled)]
    row = rows_after(changes)["trips", "T-1"]
    assert (row["status"], row["deep_link"]) == ("cancelled", "https://a.avinode.com/")
