"""What the people at the marketplace do after a trip, up to the booking."""

from collections import defaultdict
from datetime import timedelta

import pytest

from tests.unit.connectors.avinode.mock.test_webhooks import SEGMENT, Market

FINE = "We would like to book this aircraft."


async def trip(market, **segment):
    body = {"sourcing": True, "segments": [{**SEGMENT, **segment}], "criteria": {}}
    return (await market.ask("POST", "trips", body))[1]["data"]["id"]


async def write(market, thread, message=FINE):
    status, _ = await market.ask("POST", f"tripmsgs/{thread}/chat", {"message": message})
    return status


def by_event(payloads):
    found = defaultdict(list)
    for each in payloads:
        found[each["event_type"]].append(each)
    return found


async def test_the_buyer_asks_operators_who_quote_for_the_trip():
    market = Market()
    trip_id = await trip(market)
    assert set(by_event(market.signed())) == {"trip_created"}
    (asked,) = market.signed(timedelta(minutes=5))
    assert (asked["event_type"], asked["trip_id"]) == ("rfq_received", trip_id)
    assert asked["flight"]["passengers"] == 6
    _, body = await market.ask("GET", f"rfqs/{asked['rfp_id']}", fields="latestquote,timestamps")
    assert body["data"]["tripId"] == trip_id
    assert len(body["data"]["sellerLift"]) == 4

    found = by_event(market.signed(timedelta(hours=12)))
    _, body = await market.ask("GET", f"rfqs/{asked['rfp_id']}", fields="latestquote,timestamps")
    quotes = {each["id"] for each in body["data"]["sellerLift"] if "latestQuote" in each}
    assert {each["thread_id"] for each in found["quote_received"]} == quotes
    assert {each["trip_id"] for each in found["quote_received"]} == {trip_id}
    (remark,) = found["message_received"]
    assert remark["thread_id"] == found["quote_received"][0]["thread_id"]


async def test_what_the_buyer_has_not_sent_yet_does_not_exist():
    market = Market()
    await trip(market)
    assert (await market.ask("GET", "rfqs/arfq-t10000001"))[0] == 404
    assert await write(market, "arfq-t10000001") == 404
    assert await write(market, "alift-10000001") == 404


async def test_the_first_quote_whose_operator_is_written_to_is_booked():
    market = Market()
    trip_id = await trip(market)
    quotes = by_event(market.signed(timedelta(hours=12)))["quote_received"]
    chosen, *others = quotes
    assert await write(market, chosen["thread_id"]) == 201
    assert await write(market, others[0]["thread_id"]) == 201
    found = by_event(market.signed(timedelta(hours=2)))
    (accepted,), (booked,) = found["quote_accepted"], found["booking_confirmed"]
    assert accepted["quote_id"] == booked["quote_id"] == chosen["quote_id"]
    assert {each["quote_id"] for each in found["quote_rejected"]} == {
        each["quote_id"] for each in others
    }
    assert (booked["trip_id"], booked["price"]) == (trip_id, chosen["price"])
    assert booked["flight"]["departure_airport"] == "KTEB"
    assert booked["timestamp"] > accepted["timestamp"]


async def test_nobody_books_what_its_operator_has_just_refused():
    market = Market()
    for _ in range(12):
        await trip(market)
        quotes = by_event(market.signed(timedelta(hours=12)))["quote_received"]
        assert await write(market, quotes[0]["thread_id"]) == 201
        found = by_event(market.signed(timedelta(hours=2)))
        assert len(found["booking_confirmed"]) == 1
        (answer,) = found["message_received"]
        assert "confirm" in answer["message"] or "no charge" in answer["message"]


@pytest.mark.parametrize("to", ["all", "refused"])
async def test_nothing_is_booked_without_a_quote_of_the_thread(to):
    market = Market()
    await trip(market)
    (asked,) = by_event(market.signed(timedelta(minutes=5)))["rfq_received"]
    _, body = await market.ask("GET", f"rfqs/{asked['rfp_id']}")
    thread = asked["rfp_id"] if to == "all" else body["data"]["sellerLift"][0]["id"]
    assert await write(market, thread) == 201
    assert not by_event(market.signed(timedelta(days=1)))["booking_confirmed"]


async def test_requests_that_the_api_made_are_not_booked_by_anybody():
    market = Market()
    await market.rfq("OP-001", "OP-002", "OP-003")
    quotes = by_event(market.signed(timedelta(hours=12)))["quote_received"]
    assert await write(market, quotes[0]["thread_id"]) == 201
    assert not by_event(market.signed(timedelta(days=1)))["booking_confirmed"]


@pytest.mark.parametrize(("day", "time"), [("2026-11-20", "14:33"), ("2026-11-20", "18:00")])
async def test_the_buyer_asks_for_quotes_before_the_departure(day, time):
    market = Market()
    await trip(market, dateTime={"date": day, "time": time, "local": False})
    found = by_event(market.signed(timedelta(days=2)))
    deadlines = [each["quote_deadline"] for each in found["rfq_received"]]
    assert deadlines == ([] if time == "14:33" else ["2026-11-20T18:00:00.000Z"])
    assert all(each["timestamp"] <= deadlines[0] for each in found["quote_received"])


async def test_the_people_are_as_fast_as_the_mock():
    slow, fast = Market(), Market(speed=60)
    for market in (slow, fast):
        await trip(market)
    assert len(by_event(fast.signed(timedelta(seconds=5)))["rfq_received"]) == 1
    assert not by_event(slow.signed(timedelta(seconds=5)))["rfq_received"]
