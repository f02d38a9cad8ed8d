"""The story of a trip, by the agent `charter_broker` alone: with its own key, over MCP.

It creates a trip and gets a link. People at the marketplace, whom the mock plays, ask operators for
quotes. All that follows arrives by signed webhooks; the broker reads it with its own tools.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import ManualClock
from tests.eventually import eventually
from tests.workflow.desk import Agent, open_desk
from tests.workflow.desk import Result as Row

TRIP = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 6,
    "departure_date": "2026-12-01T15:00:00Z",
}


async def rows(agent: Agent, kind: str, **filters: Any) -> list[Row] | None:
    """What the webhooks have reported so far; None if that is nothing."""
    return list((await agent.call(f"entities_{kind}", **filters))["items"]) or None


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_trip_goes_from_its_link_to_a_booking(mode: str, tmp_path: Path) -> None:
    async with open_desk(tmp_path, ("charter_broker",), mode) as desk:
        await play(desk.agents["charter_broker"], desk.clock)


async def play(broker: Agent, clock: ManualClock) -> None:
    trip = await broker.call("avinode_create_trip", **TRIP)
    assert trip["trip_id"] in trip["deep_link"]
    of_trip = {"avinode_trip_id": trip["trip_id"]}
    clock.advance(timedelta(minutes=6))
    (request,) = await eventually(lambda: rows(broker, "requests", **of_trip))
    assert (request["status"], request["passengers"]) == ("open", 6)
    clock.advance(timedelta(hours=10))
    quotes = await quoted(broker, request)
    chosen = quotes[0]
    sent = await broker.call(
        "avinode_send_message", thread_id=chosen["thread_id"], message="We would like to book."
    )
    assert sent["thread_id"] == chosen["thread_id"]
    clock.advance(timedelta(hours=2))
    await booked(broker, request, chosen)


async def quoted(broker: Agent, request: Row) -> list[Row]:
    """All quotes of the request, which Avinode and the webhooks report alike."""
    rfp_id = request["avinode_rfp_id"]
    found = await broker.call("avinode_get_quotes", rfp_id=rfp_id)
    assert found["total"] == len(found["quotes"]) > 1
    status = await broker.call("avinode_get_quote_status", rfp_id=rfp_id)
    assert status["quoted"] == found["total"]
    assert status["responded"] == status["quoted"] + status["declined"]

    async def all_of_them() -> list[Row] | None:
        reported = await rows(broker, "quotes", avinode_rfp_id=rfp_id) or []
        return reported if len(reported) == found["total"] else None

    reported = await eventually(all_of_them)
    assert {each["avinode_quote_id"] for each in reported} == {
        each["quote_id"] for each in found["quotes"]
    }
    assert all(each["currency"] and each["price"] for each in reported)
    assert {each["request_id"] for each in reported} == {request["id"]}
    return list(found["quotes"])


async def booked(broker: Agent, request: Row, chosen: Row) -> None:
    of_rfp = {"avinode_rfp_id": request["avinode_rfp_id"]}
    (booking,) = await eventually(lambda: rows(broker, "bookings", **of_rfp))
    assert (booking["status"], booking["total_price"]) == ("confirmed", chosen["total_price"])
    (after,) = await rows(broker, "requests", **of_rfp) or []
    assert (after["status"], after["booking_id"]) == ("booked", booking["id"])

    async def all_ended() -> bool | None:
        found = await rows(broker, "quotes", **of_rfp) or []
        states = {each["avinode_quote_id"]: each["status"] for each in found}
        is_accepted = states.pop(chosen["quote_id"]) == "accepted"
        return True if is_accepted and set(states.values()) == {"rejected"} else None

    assert await eventually(all_ended)
    (thread,) = await rows(broker, "conversations", avinode_thread_id=chosen["thread_id"]) or []
    assert await rows(broker, "messages", conversation_id=thread["id"], sender_type="operator")
