"""The Avinode tools through their generated field maps, against the mock."""

import re
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from gateway.connectors.avinode.fields import in_dollars, rate_date, rate_source
from gateway.connectors.frankfurter.rates import FALLBACK
from gateway.errors import (
    InvalidArguments,
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)
from tests.unit.connectors.tools import ConnectorTools
from tests.unit.tables import each_of

FLIGHT = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 6,
    "departure_date": "2026-12-01",
}
TRIP = {**FLIGHT, "departure_date": "2026-12-01T22:15:00-05:00"}
DAYS = {"from": "2026-12-01", "to": "2026-12-31"}
LEGS = {"departure_airport": "KTEB", "arrival_airport": "KOPF", "date_range": DAYS, "passengers": 4}
ARGUMENTS = {
    "search_airports": {"query": "Teterboro"},
    "search_flights": FLIGHT,
    "search_empty_legs": LEGS,
    "create_watch": LEGS,
    "create_trip": TRIP,
    "create_rfp": {"flight_details": TRIP, "operator_ids": ["OP-001", "OP-008"]},
    "get_rfp_status": {"rfp_id": "arfq-10000001", "include_quotes": True},
    "get_quote_status": {"rfp_id": "arfq-10000001"},
    "get_quotes": {"rfp_id": "arfq-10000001"},
    "send_message": {"thread_id": "arfq-10000001", "message": "Hello"},
}


class Tools(ConnectorTools):
    """The tools; without arguments they are called with usual ones."""

    def __init__(self, *steps, **options):
        super().__init__("avinode", *steps, **options)

    async def call(self, tool, arguments=None):
        return await super().call(tool, **(ARGUMENTS[tool] if arguments is None else arguments))


async def test_every_tool_answers_within_its_contract():
    """Everything that is asked about a request works once the request has been made."""
    tools = Tools()
    for tool in ARGUMENTS:
        assert await tools.call(tool)


@each_of("tool", ["search_airports", "search_flights", "create_trip", "create_rfp"])
@each_of(
    ("fault", "error"),
    [
        ("status=401", UpstreamRefusedCredentials),
        ("status=429;retry-after=7", UpstreamRateLimited),
        ("status=503", UpstreamUnavailable),
        ("status=409", UpstreamRejected),
        ("truncate", InvalidReply),
        ("close", UpstreamUnavailable),
        ("break-contract", InvalidReply),
    ],
)
async def test_a_failing_upstream_never_becomes_a_result(tool, fault, error):
    with pytest.raises(error) as caught:
        await Tools(f"* 9 {fault}").call(tool)
    if error is UpstreamRateLimited:
        assert caught.value.retry_after_seconds == 7


@each_of(
    ("tool", "arguments", "reason"),
    [
        ("get_rfp_status", {"rfp_id": "nothing"}, "rfp_not_found"),
        ("get_quote_status", {"rfp_id": "nothing"}, "rfp_not_found"),
        ("get_quotes", {"rfp_id": "nothing"}, "rfp_not_found"),
        ("send_message", {"thread_id": "nothing", "message": "x"}, "thread_not_found"),
        (
            "create_rfp",
            {"flight_details": TRIP, "operator_ids": ["OP-001", "OP-999"]},
            "operator_not_found",
        ),
        ("create_trip", {**TRIP, "departure_airport": "ZZZZ"}, "airport_not_found"),
        ("create_watch", {**LEGS, "arrival_airport": "ZZZZ"}, "airport_not_found"),
        ("search_flights", {**FLIGHT, "arrival_airport": "ZZZZ"}, "airport_not_found"),
        ("search_empty_legs", {**LEGS, "departure_airport": "ZZZZ"}, "airport_not_found"),
        (
            "create_rfp",
            {"flight_details": {**TRIP, "arrival_airport": "ZZZZ"}, "operator_ids": ["OP-001"]},
            "airport_not_found",
        ),
    ],
)
async def test_what_does_not_exist_is_a_declared_error(tool, arguments, reason):
    with pytest.raises(ToolFailed) as caught:
        await Tools().call(tool, arguments)
    assert (caught.value.reason, caught.value.status) == (reason, 404)


@pytest.mark.parametrize("tool", ["create_trip", "create_watch"])
async def test_what_is_refused_leaves_nothing_behind(tool):
    """A corrected airport makes one trip, and no event reports another."""
    tools = Tools()
    for end in ("departure_airport", "arrival_airport"):
        with pytest.raises(ToolFailed) as caught:
            await tools.call(tool, {**ARGUMENTS[tool], end: "ZZZZ"})
        assert "stored" not in caught.value.detail
    assert tools.applications["avinode"].messages_due() == []
    made = await tools.call(tool)
    assert (made.get("trip_id") or made["watch_id"]).endswith("-10000001")


PAST = {**TRIP, "departure_date": "2025-01-04T12:00:00Z"}
ROUND = {**TRIP, "arrival_airport": "KTEB"}
ASKED = {"operator_ids": ["OP-006"]}


@each_of(
    ("tool", "arguments", "reason"),
    [
        ("search_flights", {**FLIGHT, "departure_date": "2025-01-04"}, "departure_in_past"),
        ("search_flights", {**FLIGHT, "arrival_airport": "KTEB"}, "same_airport"),
        ("create_trip", PAST, "departure_in_past"),
        ("create_trip", ROUND, "same_airport"),
        ("create_rfp", {"flight_details": PAST, **ASKED}, "departure_in_past"),
        ("create_rfp", {"flight_details": ROUND, **ASKED}, "same_airport"),
        (
            "create_rfp",
            {"flight_details": TRIP, **ASKED, "deadline": "2020-01-01T00:00:00Z"},
            "deadline_in_past",
        ),
        (
            "create_rfp",
            {"flight_details": {**TRIP, "passengers": 19}, **ASKED},
            "insufficient_capacity",
        ),
        (
            "search_empty_legs",
            {**LEGS, "date_range": {"from": "2025-01-01", "to": "2025-02-01"}},
            "dates_in_past",
        ),
        ("create_watch", {**LEGS, "arrival_airport": "KTEB"}, "same_airport"),
    ],
)
async def test_what_nobody_can_fly_is_a_declared_error(tool, arguments, reason):
    with pytest.raises(ToolFailed) as caught:
        await Tools().call(tool, arguments)
    assert (caught.value.reason, caught.value.status) == (reason, 422)


async def test_a_closed_request_is_a_declared_error():
    tools = Tools()
    deadline = {"deadline": "2026-11-20T15:00:00Z"}
    await tools.call("create_rfp", {**ARGUMENTS["create_rfp"], **deadline})
    tools.clock.advance(timedelta(hours=1))
    with pytest.raises(ToolFailed) as caught:
        await tools.call("send_message")
    assert (caught.value.reason, caught.value.status) == ("rfp_closed", 409)


@pytest.mark.parametrize(
    ("wishes", "sent"),
    [
        (["Wi-Fi on board"], ["Wi-Fi on board"]),
        (
            {"wifi": True, "pets": False, "catering": "vegetarian", "bags": 6},
            ["wifi: yes", "pets: no", "catering: vegetarian", "bags: 6"],
        ),
    ],
)
async def test_wishes_are_taken_as_a_list_and_by_name(wishes, sent):
    tools = Tools()
    await tools.call("create_rfp", {**ARGUMENTS["create_rfp"], "requirements": wishes})
    assert tools.requests[0].body["requirements"] == sent


async def test_a_search_lists_aircraft_cheapest_first():
    result = await Tools().call("search_flights")
    prices = [aircraft["estimated_price_usd"] for aircraft in result["aircraft"]]
    assert len(prices) >= 3
    assert all(cheaper <= dearer for cheaper, dearer in pairwise(prices))
    assert "deep_link" not in result


@pytest.mark.parametrize("category", ["light", "midsize", "heavy", "ultra-long-range"])
async def test_a_category_is_translated_there_and_back(category):
    flight = {**FLIGHT, "arrival_airport": "KOPF", "aircraft_category": category, "passengers": 2}
    result = await Tools().call("search_flights", flight)
    assert {aircraft["category"] for aircraft in result["aircraft"]} == {category}


async def test_an_account_that_may_not_search_gets_a_link():
    """The search is refused with 403, and the fallback creates a trip to search from."""
    tools = Tools(access_token="mock_broker")
    flight = {**FLIGHT, "aircraft_category": "heavy", "create_trip": True}
    result = await tools.call("search_flights", flight)
    assert [request.operation for request in tools.requests] == [
        "searchCharterOptions",
        "createTrip",
    ]
    assert tools.requests[1].body["criteria"]["requiredLift"] == [{"aircraftCategory": "Heavy jet"}]
    assert (result["aircraft"], result["total"]) == ([], 0)
    assert "atrip-10000001" in result["deep_link"]
    assert "Avinode" in result["notice"]


async def test_a_search_creates_no_trip_unasked():
    """What only reads never writes, whatever the account may not."""
    tools = Tools(access_token="mock_broker")
    result = await tools.call("search_flights")
    assert [request.operation for request in tools.requests] == ["searchCharterOptions"]
    assert (result["aircraft"], result["total"]) == ([], 0)
    assert "deep_link" not in result
    assert "create_trip" in result["notice"]


async def test_a_trip_departs_at_the_same_moment_in_universal_time():
    """22:15 in New York is 03:15 of the next day in UTC."""
    tools = Tools()
    await tools.call("create_trip")
    (segment,) = tools.requests[0].body["segments"]
    assert (segment["dateTime"]["date"], segment["dateTime"]["time"]) == ("2026-12-02", "03:15")
    assert segment["dateTime"]["local"] is False
    assert segment["paxCount"] == "6"


async def test_a_trip_with_a_return_date_has_a_second_segment():
    tools = Tools()
    await tools.call("create_trip", {**TRIP, "return_date": "2026-12-05T08:00:00Z"})
    _, back = tools.requests[0].body["segments"]
    assert (back["startAirport"]["icao"], back["endAirport"]["icao"]) == ("KVNY", "KTEB")
    assert back["dateTime"]["date"] == "2026-12-05"


async def test_airports_can_be_narrowed_and_limited():
    tools = Tools()
    arguments = {"query": "london", "country": "GB", "limit": 2}
    result = await tools.call("search_airports", arguments)
    assert [airport["country"] for airport in result["airports"]] == ["GB", "GB"]
    await tools.call("search_airports", {"query": "london"})
    assert dict(tools.requests[1].query)["page[size]"] == "10"


async def test_a_proposal_goes_from_nothing_to_quotes():
    """Counts agree with each other at every hour, and with the quotes in the end."""
    tools = Tools()
    operators = ["OP-001", "OP-002", "OP-003", "OP-005"]
    created = await tools.call("create_rfp", {"flight_details": TRIP, "operator_ids": operators})
    asked = {"rfp_id": created["rfp_id"]}
    assert created["operators_notified"] == 4

    early = await tools.call("get_quote_status", asked)
    assert (early["responded"], early["pending"]) == (0, 4)
    assert "first_response_time_minutes" not in early

    tools.clock.advance(timedelta(hours=12))
    late = await tools.call("get_quote_status", asked)
    status = await tools.call("get_rfp_status", {**asked, "include_quotes": True})
    quotes = await tools.call("get_quotes", asked)
    assert (late["responded"], late["pending"]) == (4, 0)
    assert status["quoted"] + status["declined"] == 4
    assert status["quotes"] == quotes["quotes"]
    assert quotes["total"] == status["quoted"] == len(quotes["quotes"]) > 0
    assert late["first_response_time_minutes"] <= late["average_response_time_minutes"]
    for quote in quotes["quotes"]:
        assert quote["total_price_usd"] == quote["base_price_usd"] + quote["taxes_fees_usd"]
        assert quote["response_time_minutes"] >= late["first_response_time_minutes"]


async def test_quotes_are_answered_only_when_asked_for():
    tools = Tools()
    created = await tools.call("create_rfp")
    tools.clock.advance(timedelta(hours=12))
    status = await tools.call("get_rfp_status", {"rfp_id": created["rfp_id"]})
    assert status["quotes"] == []
    assert dict(tools.requests[-1].query)["fields"] == "timestamps"


async def test_a_quote_in_another_currency_is_shown_in_it_and_in_dollars_beside_it():
    """OP-008 quotes in euros. Nothing of what was counted is hidden."""
    tools = Tools(seed="1")
    arguments = {"flight_details": TRIP, "operator_ids": ["OP-001", "OP-008"]}
    created = await tools.call("create_rfp", arguments)
    tools.clock.advance(timedelta(hours=12))
    asked = {"rfp_id": created["rfp_id"]}
    status = await tools.call("get_rfp_status", asked | {"include_quotes": True})
    found = await tools.call("get_quotes", asked)
    assert status["quotes"] == found["quotes"]
    assert status["quoted"] == found["total"] == len(found["quotes"])
    (quote,) = (each for each in found["quotes"] if each["operator_id"] == "OP-008")
    rate = FALLBACK.find("EUR", "USD")
    assert (quote["currency"], quote["rate_source"]) == ("EUR", "fallback")
    assert quote["rate_date"] == rate.date
    for name in ("base_price", "taxes_fees", "total_price"):
        dollars = Decimal(str(quote[f"{name}_usd"]))
        assert dollars == rate.convert(Decimal(str(quote[name]))) != quote[name]


@pytest.mark.parametrize(
    ("currency", "source"),
    [("USD", "same"), ("CHF", "fallback"), ("AED", "fallback"), ("XTS", None)],
)
def test_a_currency_without_a_rate_is_shown_without_dollars(currency, source):
    now = f"{FALLBACK.date}T10:00:00.000Z"
    assert (in_dollars(0.1, currency, now) is None) is (source is None)
    assert rate_source(currency, now) == source
    assert (rate_date(currency, now) is None) is (source != "fallback")
    assert in_dollars(None, currency, now) is None


@pytest.mark.parametrize(
    ("currency", "days", "source"),
    [("CHF", 90, "fallback"), ("CHF", 91, None), ("AED", 91, "fallback"), ("USD", 91, "same")],
)
def test_a_rate_that_is_too_old_is_none(currency, days, source):
    """Those of currencies that are held to the dollar do not change."""
    day = date.fromisoformat(FALLBACK.date) + timedelta(days=days)
    now = f"{day.isoformat()}T23:00:00.000Z"
    assert rate_source(currency, now) == source
    assert (in_dollars(10.0, currency, now) is None) is (source is None)
    assert (rate_date(currency, now) is None) is (source != "fallback")


async def test_times_are_universal():
    tools = Tools()
    result = await tools.call(
        "create_rfp", {**ARGUMENTS["create_rfp"], "deadline": "2026-11-22T20:00:00+02:00"}
    )
    assert result["deadline"] == "2026-11-22T18:00:00Z"
    assert re.fullmatch(r"2026-11-20T14:30:00(\.0+)?Z", result["created_at"])


@pytest.mark.parametrize(
    ("tool", "wrong", "pointer"),
    [
        ("search_empty_legs", {"date_range": {"from": "2026-12-02", "to": "2026-12-01"}}, "to"),
        ("create_watch", {"date_range": {"from": "2026-12-02", "to": "2026-12-01"}}, "to"),
        ("create_trip", {"return_date": "2026-12-02T03:14:59Z"}, "return_date"),
    ],
)
async def test_what_ends_before_it_begins_is_refused_and_never_sent(tool, wrong, pointer):
    tools = Tools()

    with pytest.raises(InvalidArguments) as caught:
        await tools.call(tool, ARGUMENTS[tool] | wrong)

    assert caught.value.violations[0].pointer.endswith(f"/{pointer}")
    assert tools.requests == []


async def test_the_flight_back_may_leave_in_the_moment_of_the_flight_there():
    tools = Tools()
    result = await tools.call("create_trip", TRIP | {"return_date": "2026-12-02T03:15:00Z"})
    assert result["status"] == "created"


async def test_a_total_counts_what_is_listed_whatever_its_category():
    """The fleet has turboprops, which are quoted as well."""
    tools = Tools()
    found = await tools.call("search_flights", {**FLIGHT, "arrival_airport": "KBOS"})
    listed = [each["category"] for each in found["aircraft"]]
    assert found["total"] == len(listed)
    assert {"turboprop", "light", "heavy"} <= set(listed)
    only = await tools.call(
        "search_flights", {**FLIGHT, "arrival_airport": "KBOS", "aircraft_types": ["King Air 350"]}
    )
    assert [each["type"] for each in only["aircraft"]] == ["King Air 350"]
    assert only["total"] == 1
    small = await tools.call(
        "search_flights", {**FLIGHT, "arrival_airport": "KBOS", "aircraft_category": "turboprop"}
    )
    assert {each["category"] for each in small["aircraft"]} == {"turboprop"}
    legs = await tools.call("search_empty_legs", {**LEGS, "arrival_airport": "KBOS"})
    assert legs["total"] == len(legs["empty_legs"])
    assert "turboprop" in {each["aircraft"]["category"] for each in legs["empty_legs"]}


async def test_an_empty_leg_that_can_depart_no_more_is_not_offered():
    tools = Tools()
    tools.clock.moment = tools.clock.moment.replace(hour=20)
    days = {"from": "2026-11-20", "to": "2026-11-21"}
    found = await tools.call("search_empty_legs", {**LEGS, "date_range": days})
    assert found["empty_legs"]
    now = tools.clock.moment.strftime("%Y-%m-%dT%H:%M:%S")
    assert min(each["window"]["to"] for each in found["empty_legs"]) > now
    assert found["total"] == len(found["empty_legs"])
    tools.clock.moment = tools.clock.moment.replace(hour=23)
    today = {"from": "2026-11-20", "to": "2026-11-20"}
    found = await tools.call("search_empty_legs", {**LEGS, "date_range": today})
    assert (found["empty_legs"], found["total"]) == ([], 0)


@pytest.mark.parametrize(
    ("deadline", "keyword"), [("2026-12-02T03:15:01Z", "order"), ("0000-01-01T00:00:00Z", "format")]
)
async def test_a_deadline_after_the_departure_is_refused_unsent(deadline, keyword):
    tools = Tools()
    asked = {"flight_details": TRIP, "operator_ids": ["OP-001"], "deadline": deadline}
    with pytest.raises(InvalidArguments) as caught:
        await tools.call("create_rfp", asked)
    (violation,) = caught.value.violations
    assert (violation.pointer, violation.keyword) == ("/deadline", keyword)
    assert tools.asked == []


async def test_the_usual_deadline_is_not_after_the_departure():
    tools = Tools()
    soon = {**TRIP, "departure_date": "2026-11-20T17:30:00Z"}
    made = await tools.call("create_rfp", {"flight_details": soon, "operator_ids": ["OP-001"]})
    assert made["deadline"] == soon["departure_date"]
