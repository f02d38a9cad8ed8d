"""How the Avinode mock behaves, asked through the backend as the gateway asks it."""

import json
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock.backend import MockBackend
from gateway.connectors.avinode.mock.market import AIRPORTS, FLEET, OPERATORS, distance_nm
from gateway.connectors.avinode.mock.upstream import BEHAVIOURS
from gateway.contract.upstream import UpstreamRequest
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.unit import shipped
from tests.unit.tables import each_of

EVERY_FIELD = "timestamps,latestquote,quotebreakdown"


class Asker:
    """Asks the mock, and says what it answered."""

    def __init__(self, seed="0", **credentials):
        self.clock = ManualClock()
        self._backend = MockBackend(
            shipped.upstream("avinode"), self.clock, seed=seed, credentials=credentials
        )

    async def ask(self, method, path, body=None, **query):
        parts = {} if body is None else {"body": body}
        request = UpstreamRequest(
            operation=path,
            method=method,
            path=tuple(path.split("/")),
            query=tuple(query.items()),
            **parts,
        )
        reply = await self._backend.send(request, timeout_seconds=PATIENCE_SECONDS)
        return reply.status, json.loads(reply.body)

    async def post(self, path, body):
        return await self.ask("POST", path, body)

    async def rfq(self, rfq_id, fields=EVERY_FIELD):
        return (await self.ask("GET", f"rfqs/{rfq_id}", fields=fields))[1]["data"]


def segment(start="KTEB", end="KVNY", pax=6, day="2026-12-01"):
    return {
        "startAirport": {"icao": start},
        "endAirport": {"icao": end},
        "dateTime": {"date": day},
        "paxCount": str(pax),
    }


def at(day, time):
    """A segment whose departure is a moment in UTC."""
    leaves = {"date": day, "time": time, "departure": True, "local": False}
    return {**segment(), "dateTime": leaves}


def trip(*segments):
    return {"sourcing": True, "segments": list(segments), "criteria": {}}


def search(*, criteria=None, **leg):
    return {"segments": [segment(**leg)], "criteria": criteria or {}, "currency": "USD"}


def rfq(*operators, **more):
    companies = [{"id": operator} for operator in operators]
    return {"segments": [segment()], "sellerCompanies": companies, **more}


def legs(first="2026-12-01", last="2026-12-31", **more):
    return {
        "startAirport": {"icao": "KTEB"},
        "endAirport": {"icao": "KOPF"},
        "dateRange": {"from": first, "to": last},
        "paxCount": "4",
        "currency": "USD",
        **more,
    }


async def found(criteria=None, **leg):
    _, body = await Asker().post("searches", search(criteria=criteria, **leg))
    assert body["meta"]["pagination"]["totalCount"] == len(body["data"])
    return body["data"]


def test_every_operation_of_the_contract_has_a_behaviour():
    assert BEHAVIOURS.keys() == {
        operation.id for operation in shipped.upstream("avinode").operations
    }


def test_the_tables_agree_with_each_other():
    assert {aircraft.operator for aircraft in FLEET} == OPERATORS.keys()
    assert len({aircraft.id for aircraft in FLEET}) == len(FLEET)
    assert len(AIRPORTS) >= 40


def test_distances_are_those_of_the_globe():
    """Teterboro to Van Nuys is 2,130 nautical miles, to within one in a hundred."""
    assert distance_nm(AIRPORTS["KTEB"], AIRPORTS["KVNY"]) == pytest.approx(2130, rel=0.01)


async def test_aircraft_have_the_seats_and_the_range():
    by_id = {aircraft.id: aircraft for aircraft in FLEET}
    options = await found(pax=9)
    assert len(options) >= 3
    for option in options:
        assert option["maximumPassengers"] >= 9
        assert by_id[option["id"]].range_nm >= 2130


async def test_the_cheapest_comes_first():
    prices = [option["price"]["amount"] for option in await found()]
    assert prices == sorted(prices)


@pytest.mark.parametrize(
    ("criteria", "holds"),
    [
        (
            {"aircraftCategory": "Midsize jet"},
            lambda o: o["aircraftCategory"]["name"] in {"Midsize jet", "Super midsize jet"},
        ),
        ({"aircraftTypes": ["citation x"]}, lambda o: o["id"] == "AC-001"),
        (
            {"aircraftTypes": ["heavy-jet", "Global 7500"]},
            lambda o: o["aircraftCategory"]["name"] == "Heavy jet" or o["id"] == "AC-005",
        ),
        ({"maximumPrice": 40_000}, lambda o: o["price"]["amount"] <= 40_000),
        ({"minimumSellerRating": 4.7}, lambda o: o["sellerCompany"]["rating"] >= 4.7),
    ],
)
async def test_criteria_narrow_the_search(criteria, holds):
    """Exactly the options that meet the criterion are left."""
    everything = await found(pax=4)
    narrowed = await found(criteria, pax=4)
    assert narrowed == [option for option in everything if holds(option)]
    assert 0 < len(narrowed) < len(everything)


async def test_the_same_seed_gives_the_same_answer():
    async def answer(seed):
        return await Asker(seed).post("searches", search())

    assert await answer("a") == await answer("a")
    assert await answer("a") != await answer("b")


async def test_prices_move_from_day_to_day():
    one = {option["id"]: option["price"] for option in await found()}
    other = {option["id"]: option["price"] for option in await found(day="2026-12-02")}
    assert one != other


@pytest.mark.parametrize(
    ("query", "first"),
    [({"filter": "teter"}, "KTEB"), ({"filter": "vny"}, "KVNY"), ({"filter": "EGGW"}, "EGGW")],
)
async def test_airports_are_found_by_code_name_and_city(query, first):
    _, body = await Asker().ask("GET", "airports/search", **query)
    assert body["data"][0]["icao"] == first


async def test_airports_are_paged_and_narrowed_to_a_country():
    parameters = {"filter": "london", "country": "GB", "page[size]": "2", "page[number]": "2"}
    _, body = await Asker().ask("GET", "airports/search", **parameters)
    assert body["meta"]["pagination"]["totalCount"] == 4
    assert [airport["country"]["code"] for airport in body["data"]] == ["GB", "GB"]


async def test_a_prefix_search_finds_beginnings_only():
    parameters = {"filter": "terboro", "filterMatchType": "starts_with"}
    _, body = await Asker().ask("GET", "airports/search", **parameters)
    assert body["data"] == []


async def test_empty_legs_lie_in_the_range_and_the_budget():
    _, body = await Asker().post("emptylegs/search", legs(maximumPrice=20_000))
    assert body["data"]
    for leg in body["data"]:
        assert "2026-12-01" <= leg["earliestDeparture"][:10] <= "2026-12-31"
        assert leg["earliestDeparture"] < leg["latestDeparture"]
        assert leg["price"]["amount"] <= 20_000


@pytest.mark.parametrize("days", [("2026-12-31", "2026-12-01"), ("0000-01-01", "9999-01-02")])
async def test_a_range_without_days_has_no_empty_legs(days):
    _, body = await Asker().post("emptylegs/search", legs(*days))
    assert body["data"] == []


async def test_quotes_arrive_as_time_passes():
    """Nobody answers at once, everybody in the end, and nothing that was said is taken back."""
    asker = Asker()
    _, created = await asker.post("rfqs", rfq(*OPERATORS))
    answered = []
    for _ in range(12):
        lifts = (await asker.rfq(created["data"]["id"]))["sellerLift"]
        answered.append(sum(lift["sourcingDisplayStatus"] != "Unanswered" for lift in lifts))
        asker.clock.advance(timedelta(hours=1))
    assert answered[0] == 0
    assert answered == sorted(answered)
    assert answered[-1] == len(OPERATORS)


async def test_an_answer_is_a_quote_or_a_refusal():
    asker = Asker()
    _, created = await asker.post("rfqs", rfq(*OPERATORS))
    asker.clock.advance(timedelta(days=1))
    for lift in (await asker.rfq(created["data"]["id"]))["sellerLift"]:
        is_quoted = lift["sourcingDisplayStatus"] == "Accepted"
        assert ("latestQuote" in lift) is is_quoted
        if is_quoted:
            quote = lift["latestQuote"]
            parts = quote["breakdown"]
            assert quote["sellerPrice"]["price"] == parts["basePrice"] + parts["taxesAndFees"]
            assert quote["createdOn"] == lift["answeredOn"]
            assert (
                quote["sellerPrice"]["currency"] == OPERATORS[lift["sellerCompany"]["id"]].currency
            )


async def test_what_was_not_asked_for_is_not_embedded():
    asker = Asker()
    _, created = await asker.post("rfqs", rfq(*OPERATORS))
    asker.clock.advance(timedelta(days=1))
    lifts = (await asker.rfq(created["data"]["id"], fields=""))["sellerLift"]
    assert not any({"answeredOn", "latestQuote"} & lift.keys() for lift in lifts)


async def test_the_deadline_is_the_one_asked_for_or_a_day():
    asker = Asker()
    _, body = await asker.post("rfqs", rfq("OP-001"))
    assert body["data"]["quoteDeadline"] == "2026-11-21T14:30:00.000Z"
    _, body = await asker.post("rfqs", rfq("OP-001", quoteDeadline="2026-12-24T18:00:00+01:00"))
    assert body["data"]["quoteDeadline"] == "2026-12-24T17:00:00.000Z"
    _, body = await asker.post("rfqs", rfq("OP-001", quoteDeadline="9999-12-31T23:59:59Z"))
    assert body["data"]["quoteDeadline"] == "9999-12-31T23:59:59.000Z"


async def test_a_deadline_after_the_departure_is_refused():
    leaves = at("2026-12-01", "15:00")
    body = rfq("OP-001", quoteDeadline="2026-12-01T15:00:01Z")
    body["segments"][0]["dateTime"] = leaves["dateTime"]
    status, answer = await Asker().post("rfqs", body)
    assert (status, answer["meta"]["errors"][0]["code"]) == (422, "DEADLINE_AFTER_DEPARTURE")


async def test_nobody_answers_after_the_deadline():
    asker = Asker()
    _, created = await asker.post("rfqs", rfq(*OPERATORS, quoteDeadline="2026-11-20T14:30:01Z"))
    asker.clock.advance(timedelta(days=1))
    lifts = (await asker.rfq(created["data"]["id"]))["sellerLift"]
    assert {lift["sourcingDisplayStatus"] for lift in lifts} == {"Unanswered"}


async def test_a_deadline_that_is_no_moment_is_refused():
    """RFC 3339 has a year 0; the calendar here begins with year 1."""
    request = rfq("OP-001", quoteDeadline="0000-01-01T00:00:00Z")
    assert (await Asker().post("rfqs", request))[0] == 422


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "rfqs", rfq("OP-001", "OP-999")),
        ("GET", "rfqs/arfq-1", None),
        ("POST", "tripmsgs/arfq-1/chat", {"message": "Hello"}),
    ],
)
async def test_what_does_not_exist_is_not_found(method, path, body):
    status, answer = await Asker().ask(method, path, body)
    assert (status, answer["meta"]["errors"][0]["code"]) == (404, "NOT_FOUND")


async def test_messages_go_to_a_request_or_to_one_operators_answer():
    asker = Asker()
    _, created = await asker.post("rfqs", rfq("OP-001"))
    for thread in (created["data"]["id"], created["data"]["sellerLift"][0]["id"]):
        status, answer = await asker.post(f"tripmsgs/{thread}/chat", {"message": "Hello"})
        assert (status, answer["data"]["createdOn"]) == (201, "2026-11-20T14:30:00.000Z")
    lift = created["data"]["sellerLift"][0]["id"]
    assert (await asker.ask("GET", f"rfqs/{lift}"))[0] == 404


async def test_a_trip_has_a_link_to_search_from():
    status, body = await Asker().post(
        "trips", {"sourcing": True, "segments": [segment()], "criteria": {}}
    )
    assert status == 201
    assert body["data"]["id"] in body["data"]["actions"]["searchInAvinode"]["href"]


async def test_a_watch_is_active():
    body = {name: value for name, value in legs().items() if name != "paxCount"}
    status, answer = await Asker().post("emptylegs/watches", body)
    assert (status, answer["data"]["status"]) == (201, "ACTIVE")


async def test_an_invalid_airport_of_a_search_is_a_soft_error():
    """Avinode searches, answers 200, and says in the body that the airport is not valid."""
    status, body = await Asker().post("searches", search(start="ZZZZ"))
    assert status == 200
    assert body["meta"]["errors"] == [
        {
            "title": "The airport is not valid.",
            "code": "START_AIRPORT_INVALID",
            "path": "segments[0].startAirport",
        }
    ]


async def test_an_account_of_a_broker_may_create_trips_but_not_search():
    asker = Asker(access_token="mock_broker")
    assert (await asker.post("searches", search()))[0] == 403
    trip = {"sourcing": True, "segments": [segment()], "criteria": {}}
    assert (await asker.post("trips", trip))[0] == 201


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "searches", search()),
        ("POST", "rfqs", rfq("OP-001")),
        ("GET", "rfqs/arfq-1", None),
        ("POST", "emptylegs/search", legs()),
    ],
)
async def test_an_expired_token_is_refused(method, path, body):
    assert (await Asker(access_token="mock_expired").ask(method, path, body))[0] == 401


codes = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=4, max_size=4)


@each_of(
    ("path", "body", "code"),
    [
        ("searches", search(start="KTEB", end="KTEB"), "SAME_AIRPORT"),
        ("searches", search(day="2026-11-18"), "DEPARTURE_IN_PAST"),
        ("trips", trip(segment(start="KVNY")), "SAME_AIRPORT"),
        ("trips", trip(at("2026-11-20", "14:29")), "DEPARTURE_IN_PAST"),
        ("trips", trip(segment(), segment(day="2020-01-01")), "DEPARTURE_IN_PAST"),
        ("rfqs", {**rfq("OP-001"), "segments": [segment(day="0000-01-01")]}, "DEPARTURE_IN_PAST"),
        ("rfqs", {**rfq("OP-001"), "segments": [segment(end="ZZZZ")]}, "END_AIRPORT_INVALID"),
        ("rfqs", {**rfq("OP-001"), "segments": [segment(end="QQQQ")]}, "END_AIRPORT_INVALID"),
        ("rfqs", rfq("OP-001", quoteDeadline="2020-01-01T00:00:00Z"), "DEADLINE_IN_PAST"),
        ("rfqs", {**rfq("OP-006"), "segments": [segment(pax=12)]}, "INSUFFICIENT_CAPACITY"),
        ("trips", trip(segment(start="ZZZZ")), "START_AIRPORT_INVALID"),
        ("trips", trip(segment(), segment(end="QQQQ")), "END_AIRPORT_INVALID"),
        ("emptylegs/watches", legs(startAirport={"icao": "ZZZZ"}), "START_AIRPORT_INVALID"),
        ("emptylegs/search", legs("2026-01-01", "2026-11-19"), "DATES_IN_PAST"),
        ("emptylegs/watches", legs("2026-01-01", "2026-11-19"), "DATES_IN_PAST"),
        ("emptylegs/watches", {**legs(), "endAirport": {"icao": "KTEB"}}, "SAME_AIRPORT"),
    ],
)
async def test_what_nobody_can_fly_is_refused_with_a_code(path, body, code):
    status, answer = await Asker().post(path, body)
    assert (status, answer["meta"]["errors"][0]["code"]) == (422, code)
    assert "data" not in answer


async def test_today_is_not_the_past():
    asker = Asker()
    assert (await asker.post("searches", search(day="2026-11-20")))[0] == 200
    assert (await asker.post("trips", trip(at("2026-11-20", "14:31"))))[0] == 201


async def test_an_operator_without_an_aircraft_of_the_size_declines():
    asker = Asker()
    _, body = await asker.post(
        "rfqs", {**rfq("OP-006", "OP-002", "OP-001"), "segments": [segment(pax=12)]}
    )
    asker.clock.advance(timedelta(hours=11))
    small, *large = (await asker.rfq(body["data"]["id"]))["sellerLift"]
    assert small["sourcingDisplayStatus"] == "Declined"
    offered = {lift["latestQuote"]["lift"]["id"] for lift in large if "latestQuote" in lift}
    assert offered
    assert offered <= {"AC-002", "AC-016", "AC-019"}


async def test_nothing_is_written_to_a_request_that_is_closed():
    asker = Asker()
    _, body = await asker.post("rfqs", rfq("OP-001", quoteDeadline="2026-11-20T14:31:00Z"))
    rfq_id = body["data"]["id"]
    assert (await asker.post(f"tripmsgs/{rfq_id}/chat", {"message": "Hello"}))[0] == 201
    asker.clock.advance(timedelta(minutes=2))
    status, answer = await asker.post(f"tripmsgs/{rfq_id}/chat", {"message": "Hello"})
    assert (status, answer["meta"]["errors"][0]["code"]) == (409, "RFQ_CLOSED")


async def test_a_quote_can_be_talked_about_until_it_expires():
    asker = Asker()
    _, body = await asker.post("rfqs", rfq(*OPERATORS))
    asker.clock.advance(timedelta(hours=30))
    lifts = (await asker.rfq(body["data"]["id"]))["sellerLift"]
    quoted = next(lift["id"] for lift in lifts if "latestQuote" in lift)
    silent = next(lift["id"] for lift in lifts if "latestQuote" not in lift)
    statuses = [
        (await asker.post(f"tripmsgs/{lift}/chat", {"message": "Hello"}))[0]
        for lift in (quoted, silent)
    ]
    assert statuses == [201, 409], "the request is closed, and the quote holds"
    asker.clock.advance(timedelta(days=5))
    status, answer = await asker.post(f"tripmsgs/{quoted}/chat", {"message": "Hello"})
    assert (status, answer["meta"]["errors"][0]["code"]) == (409, "QUOTE_EXPIRED")


@pytest.mark.parametrize("query", ["Zürich", "zurich", "ZÜRICH", "São Paulo", "Côte d'Azur"])
async def test_accents_make_no_difference_to_a_search(query):
    _, body = await Asker().ask("GET", "airports/search", filter=query)
    assert body["data"]


@given(
    start=codes,
    end=codes,
    pax=st.integers(1, 19),
    day=st.dates().map(str) | st.dates(min_value=date(2026, 11, 21)).map(str),
)
async def test_every_valid_request_is_answered_within_the_contract(start, end, pax, day):
    """Unknown airports, far dates, full aircraft: the mock checks itself, and never fails."""
    asker = Asker()
    leg = segment(start, end, pax, day)
    ends = {name: leg[name] for name in ("startAirport", "endAirport")}
    request = {"segments": [leg], "sellerCompanies": [{"id": each} for each in OPERATORS]}
    searched = search(start=start, end=end, pax=pax, day=day)
    assert (await asker.post("searches", searched))[0] in {200, 422}
    assert (await asker.post("trips", trip(leg)))[0] in {200, 201, 422}
    made, _ = await asker.post("rfqs", request)
    assert made in {201, 422}
    asker.clock.advance(timedelta(hours=2))
    if made == 201:
        assert await asker.rfq("arfq-10000001")
    period = {"dateRange": {"from": day, "to": "9999-12-31"}, "paxCount": str(pax)}
    found, _ = await asker.post("emptylegs/search", {**ends, **period, "currency": "USD"})
    assert found in {200, 422}
