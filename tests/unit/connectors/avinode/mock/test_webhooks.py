"""What the Avinode mock sends to its listeners: when, and whether it fits its contract."""

import json
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from gateway.authoring.contracts.expanding import dereference
from gateway.authoring.contracts.tree import read_tree
from gateway.backends.mock.application import MockApplication, MockOptions
from gateway.backends.mock.backend import MockBackend
from gateway.connectors.avinode.mock.market import OPERATORS
from gateway.contract.upstream import UpstreamRequest
from gateway.contract.values.schema import Validator
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.unit import shipped

SCHEMAS = Path(__file__).parents[5] / "schemas"
SEGMENT = {
    "startAirport": {"icao": "KTEB"},
    "endAirport": {"icao": "KVNY"},
    "dateTime": {"date": "2026-12-01", "time": "15:00"},
    "paxCount": "6",
}
POINTERS = {"rfqs", "tripmsgs"}


class Market:
    """The mock, its clock and what it sends."""

    def __init__(self, seed="0", **more):
        self.clock = ManualClock()
        options = MockOptions(seed=seed, **more)
        self.application = MockApplication(shipped.upstream("avinode"), self.clock, options=options)
        self._backend = MockBackend(
            shipped.upstream("avinode"), self.clock, application=self.application
        )

    async def ask(self, method, path, body=None, **query):
        request = UpstreamRequest(
            operation=path,
            method=method,
            path=tuple(path.split("/")),
            query=tuple(query.items()),
            **({} if body is None else {"body": body}),
        )
        reply = await self._backend.send(request, timeout_seconds=PATIENCE_SECONDS)
        return reply.status, json.loads(reply.body)

    async def rfq(self, *operators, **more):
        companies = [{"id": each} for each in operators]
        body = {"segments": [SEGMENT], "sellerCompanies": companies, **more}
        return (await self.ask("POST", "rfqs", body))[1]["data"]

    def reported(self, passed=timedelta()):
        self.clock.advance(passed)
        return self.application.messages_due()

    def signed(self, passed=timedelta()):
        return [each.payload for each in self.reported(passed) if each.event not in POINTERS]


@cache
def contracts():
    return read_tree(SCHEMAS)


def payload_gate(event):
    return Validator(
        dereference(contracts(), PurePosixPath(f"webhooks/avinode/{event}.payload.json"))
    )


async def everything():
    """One of each message that the mock can send."""
    market = Market()
    trip = {"sourcing": True, "segments": [SEGMENT], "criteria": {}}
    await market.ask("POST", "trips", trip)
    rfq = await market.rfq(*OPERATORS)
    await market.ask("POST", f"tripmsgs/{rfq['id']}/chat", {"message": "Is there Wi-Fi?"})
    found = market.reported(timedelta(hours=12))
    of_trip = next(
        each.payload
        for each in found
        if each.event == "quote_received" and "trip_id" in each.payload
    )
    await market.ask("POST", f"tripmsgs/{of_trip['thread_id']}/chat", {"message": "We book it."})
    return found + market.reported(timedelta(days=7))


async def test_every_message_is_as_the_contract_says():
    found = await everything()
    assert {each.event for each in found} == {
        "trip_created",
        "rfq_received",
        "quote_received",
        "quote_expired",
        "quote_accepted",
        "quote_rejected",
        "message_received",
        "booking_confirmed",
        *POINTERS,
    }
    for each in found:
        gate = payload_gate(each.event)
        assert gate.admits(each.payload), (each.event, gate.violations(each.payload))
        assert each.event in POINTERS or each.payload["event_id"] == each.id
    signed = [each.id for each in found if each.event not in POINTERS]
    assert len(set(signed)) == len(signed)


async def test_a_quote_is_informed_when_it_arrives_and_as_it_is_read():
    market = Market()
    rfq = await market.rfq("OP-001", "OP-002", "OP-003")
    assert market.signed() == []
    reported = market.signed(timedelta(hours=10, minutes=1))
    _, body = await market.ask("GET", f"rfqs/{rfq['id']}", fields="latestquote,timestamps")
    quotes = {
        lift["latestQuote"]["id"]: lift
        for lift in body["data"]["sellerLift"]
        if "latestQuote" in lift
    }
    assert quotes
    assert {each["quote_id"] for each in reported} == quotes.keys()
    for each in reported:
        lift = quotes[each["quote_id"]]
        quote = lift["latestQuote"]
        assert each["timestamp"] == lift["answeredOn"]
        assert each["thread_id"] == lift["id"]
        assert each["operator"]["id"] == lift["sellerCompany"]["id"]
        assert each["price"]["total"] == quote["sellerPrice"]["price"]
        assert each["valid_until"] == quote["validUntil"]
    assert [each["timestamp"] for each in reported] == sorted(
        each["timestamp"] for each in reported
    )


async def test_a_mock_that_begins_again_does_not_repeat_the_ids_of_other_messages():
    """A gateway keeps the ids that it has seen, and the mock forgets everything."""
    ids = []
    for start in (0, 1):
        market = Market()
        market.clock.advance(timedelta(days=start))
        await market.rfq(*OPERATORS)
        ids.append({each.id for each in market.reported(timedelta(days=7))})
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


async def test_nothing_is_reported_twice():
    market = Market()
    await market.rfq("OP-001")
    assert market.reported(timedelta(days=10))
    assert market.reported(timedelta(days=10)) == []


async def test_an_answer_after_the_deadline_is_not_reported():
    market = Market()
    await market.rfq(*OPERATORS, quoteDeadline="2026-11-20T14:30:30Z")
    assert market.reported(timedelta(days=10)) == []


async def test_a_quote_lapses_five_days_after_it_was_given():
    market = Market()
    await market.rfq(*OPERATORS)
    given = market.signed(timedelta(days=1))
    ended = market.signed(timedelta(days=6))
    assert {each["event_type"] for each in ended} == {"quote_expired"}
    assert [each["quote_id"] for each in ended] == [each["quote_id"] for each in given]
    assert [each["timestamp"] for each in ended] == [each["valid_until"] for each in given]


async def test_an_operator_answers_a_message_and_the_answer_can_be_read_then():
    market = Market()
    rfq = await market.rfq("OP-002")
    lift = rfq["sellerLift"][0]["id"]
    await market.ask("POST", f"tripmsgs/{lift}/chat", {"message": "Is there Wi-Fi?"})
    unread, _ = await market.ask("GET", "tripmsgs/asellermsg-10000001")
    assert unread == 404
    [answer] = [
        each
        for each in market.signed(timedelta(minutes=31))
        if each["event_type"] == "message_received"
    ]
    assert answer["thread_id"] == lift
    assert answer["sender"] == {"type": "operator", "name": OPERATORS["OP-002"].name}
    status, body = await market.ask("GET", f"tripmsgs/{answer['message_id']}")
    assert (status, body["data"]["message"]) == (200, answer["message"])
    assert body["data"]["requestId"] == lift


async def test_all_operators_of_a_request_answer_a_message_to_all():
    market = Market()
    rfq = await market.rfq("OP-001", "OP-002")
    await market.ask("POST", f"tripmsgs/{rfq['id']}/chat", {"message": "Is there Wi-Fi?"})
    answers = [
        each["thread_id"]
        for each in market.signed(timedelta(minutes=31))
        if each["event_type"] == "message_received"
    ]
    assert sorted(answers) == sorted(lift["id"] for lift in rfq["sellerLift"])


async def test_what_was_sent_can_be_read_and_what_was_not_cannot():
    market = Market()
    rfq = await market.rfq("OP-001")
    _, sent = await market.ask("POST", f"tripmsgs/{rfq['id']}/chat", {"message": "Hello."})
    status, body = await market.ask("GET", f"tripmsgs/{sent['data']['id']}")
    assert (status, body["data"]["sender"]) == (200, {"side": "BUYER"})
    assert (await market.ask("GET", "tripmsgs/amsg-1"))[0] == 404


async def test_pointers_lead_to_where_the_mock_is():
    market = Market()
    rfq = await market.rfq("OP-001")
    [reported] = [each for each in market.reported(timedelta(hours=11)) if each.event == "rfqs"]
    assert reported.payload == {
        "id": rfq["id"],
        "href": f"https://sandbox.avinode.com/api/rfqs/{rfq['id']}",
        "type": "rfqs",
    }


async def test_pointers_of_a_mock_that_is_served_lead_to_it():
    market = Market(base_url="http://127.0.0.1:9100")
    rfq = await market.rfq("OP-001")
    [reported] = [each for each in market.reported(timedelta(hours=11)) if each.event == "rfqs"]
    assert reported.payload["href"] == f"http://127.0.0.1:9100/rfqs/{rfq['id']}"


async def test_a_trip_is_reported_at_once():
    market = Market()
    trip = {"sourcing": True, "segments": [SEGMENT], "criteria": {}}
    _, body = await market.ask("POST", "trips", trip)
    [reported] = market.signed()
    assert reported["trip_id"] == body["data"]["id"]
    assert reported["flight"] == {
        "departure_airport": "KTEB",
        "arrival_airport": "KVNY",
        "departure_at": "2026-12-01T15:00:00Z",
        "passengers": 6,
    }


async def test_a_departure_that_is_no_moment_is_not_reported():
    market = Market()
    segment = {**SEGMENT, "dateTime": {"date": "2026-12-01", "time": "27:00"}}
    await market.ask("POST", "trips", {"sourcing": True, "segments": [segment], "criteria": {}})
    [reported] = market.signed()
    assert "departure_at" not in reported["flight"]
    assert payload_gate("trip_created").admits(reported)


@pytest.mark.parametrize("seed", ["0", "another"])
async def test_the_same_seed_reports_the_same(seed):
    async def reported():
        market = Market(seed)
        await market.rfq(*OPERATORS)
        return market.reported(timedelta(days=7))

    assert await reported() == await reported()
