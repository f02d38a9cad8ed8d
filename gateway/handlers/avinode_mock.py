"""How the Avinode mock behaves: trips, requests for quotes, messages, empty legs and watches.

Quotes arrive as mock time passes: each operator answers after minutes that the seed decides. An
access token that contains `broker` belongs to an account that may not search, and one that contains
`expired` to nobody. The airport `ZZZZ`, ICAO's code for "no code", is the one that Avinode reports
as invalid; every other code is accepted, known or not.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from gateway.clock import rfc3339
from gateway.contract.mock import Behaviour, MockReply, MockRequest, MockState, Refusal
from gateway.handlers.avinode_mock_fleet import OPERATORS
from gateway.handlers.avinode_mock_market import (
    airports,
    charter_options,
    empty_legs,
    quoted_aircraft,
    seller_company,
)

_SITE: Final = "https://sandbox.avinode.com"
_INVALID_AIRPORT: Final = "ZZZZ"
_QUOTE_LIFE: Final = timedelta(days=5)
_DEADLINE: Final = timedelta(hours=24)
_DECLINES: Final = 0.15
_RATE: Final = {
    "x-rate-limit-limit": "3600",
    "x-rate-limit-remaining": "3599",
    "x-rate-limit-reset": "3600",
}
_CODES: Final[Mapping[int, str]] = {
    400: "ERR_INPUT_GENERIC_INVALID",
    401: "NOT_AUTHORIZED",
    403: "AUTHENTICATION_COMPANY_ACCESS",
    404: "NOT_FOUND",
    405: "NOT_FOUND",
    422: "ERR_INPUT_GENERIC_INVALID",
}
_REMARKS: Final = (
    "Pets are welcome on this aircraft.",
    "Wi-Fi on board, catering on request.",
    "Price holds for the times as requested.",
    "Crew of two, cabin attendant included.",
)


def refuse(refusal: Refusal) -> Any:
    """Avinode's envelope with one error."""
    code = _CODES.get(refusal.status, "ERR_INTERNAL_CRITICAL")
    return {"meta": _meta([{"title": refusal.title, "code": code, "path": refusal.path}])}


def finish(reply: MockReply) -> MockReply:
    """Every reply tells the rate limit. The mock never uses it up; a fault can say that it is."""
    return MockReply(status=reply.status, headers={**_RATE, **reply.headers}, body=reply.body)


def search_airports(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query
    found = airports(
        query["filter"], query.get("country"), query.get("filterMatchType") == "starts_with"
    )
    number, size = query.get("page[number]", 1), query.get("page[size]", 10)
    page = {"pageNumber": number, "batchSize": size, "totalCount": len(found)}
    shown = found[(number - 1) * size : number * size]
    return MockReply(body={"meta": _meta(pagination=page), "data": shown})


def search_charter_options(request: MockRequest, _state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    if "broker" in request.headers.get("authorization", ""):
        return _refused(403, "This account may not search; use the deep link of a trip.")
    segments = request.body["segments"]
    found = charter_options(request, segments[0])
    meta = _meta(_invalid_airports(segments), pagination=_one_page(found))
    meta["queryTimeMs"] = request.random().randint(400, 1200)
    return MockReply(body={"meta": meta, "data": found})


def create_trip(request: MockRequest, state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    trip_id = state.new_id("atrip")
    state.add("trips", trip_id, request.body)
    errors = _invalid_airports(request.body["segments"])
    page = f"{_SITE}/marketplace/mvc"
    data = {
        "id": trip_id,
        "type": "trips",
        "href": f"{_SITE}/api/trips/{trip_id}",
        "actions": {
            "searchInAvinode": {
                "description": "Search for aircraft",
                "href": f"{page}/search/load/{trip_id}?source=api&origin=api_action",
            },
            "viewInAvinode": {"href": f"{page}/trips/buying/{trip_id}?source=api"},
            "cancel": {"href": f"{_SITE}/api/trips/{trip_id}/cancel"},
        },
    }
    # Avinode stores what it can, and answers 200 instead of 201 when a part of it is not valid.
    return MockReply(status=200 if errors else 201, body={"meta": _meta(errors), "data": data})


def create_rfq(request: MockRequest, state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    companies = [each["id"] for each in request.body["sellerCompanies"]]
    if not OPERATORS.keys() >= set(companies):
        return _refused(404, "A seller company does not exist.", "sellerCompanies")
    rfq_id = state.new_id("arfq")
    row = {
        "id": rfq_id,
        "created": request.now,
        "deadline": request.body.get("quoteDeadline", rfc3339(request.now + _DEADLINE)),
        "lifts": [_lift(request, state, rfq_id, company) for company in companies],
    }
    state.add("threads", rfq_id, row)
    errors = _invalid_airports(request.body["segments"])
    body = {"meta": _meta(errors), "data": _rfq(row, request.now, frozenset())}
    return MockReply(status=200 if errors else 201, body=body)


def read_rfq(request: MockRequest, state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    row = state.find("threads", request.path["id"])
    if row is None or "lifts" not in row:
        return _refused(404, "There is no such RFQ.", "id")
    fields = frozenset(request.query.get("fields", "").split(","))
    return MockReply(body={"meta": _meta(), "data": _rfq(row, request.now, fields)})


def send_chat(request: MockRequest, state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    thread = request.path["requestId"]
    if state.find("threads", thread) is None:
        return _refused(404, "There is no such thread.", "requestId")
    message_id = state.new_id("amsg")
    state.add("messages", message_id, {"thread": thread, **request.body})
    data = {"id": message_id, "type": "tripmsgs", "createdOn": rfc3339(request.now)}
    return MockReply(status=201, body={"meta": _meta(), "data": data})


def search_empty_legs(request: MockRequest, _state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    found = empty_legs(request)
    errors = _invalid_airports([request.body])
    return MockReply(body={"meta": _meta(errors, pagination=_one_page(found)), "data": found})


def create_watch(request: MockRequest, state: MockState) -> MockReply:
    if refused := _refuse_account(request):
        return refused
    watch_id = state.new_id("awatch")
    state.add("watches", watch_id, request.body)
    data = {
        "id": watch_id,
        "type": "emptylegwatches",
        "status": "ACTIVE",
        "createdOn": rfc3339(request.now),
    }
    return MockReply(status=201, body={"meta": _meta(), "data": data})


BEHAVIOURS: Final[Mapping[str, Behaviour]] = {
    "searchAirports": search_airports,
    "searchCharterOptions": search_charter_options,
    "createTrip": create_trip,
    "createRfq": create_rfq,
    "readRfq": read_rfq,
    "sendChat": send_chat,
    "searchEmptyLegs": search_empty_legs,
    "createWatch": create_watch,
}


def _lift(request: MockRequest, state: MockState, rfq_id: str, company: str) -> dict[str, Any]:
    """What an operator is going to answer, and when: settled when the request is made."""
    chance = request.random("answer", rfq_id, company)
    lift_id = state.new_id("alift")
    state.add("threads", lift_id, {"rfq": rfq_id})
    answered = request.now + timedelta(minutes=_response_minutes(chance))
    is_declined = chance.random() < _DECLINES
    quote = None if is_declined else _quote(request, state, company, answered)
    return {"id": lift_id, "company": company, "answered": answered, "quote": quote}


def _response_minutes(chance: Random) -> int:
    """Most operators answer within the hour, a few much later."""
    return 1 + min(int(chance.expovariate(1 / 35)), 600)


def _quote(
    request: MockRequest, state: MockState, company: str, answered: datetime
) -> dict[str, Any]:
    aircraft, base = quoted_aircraft(request, company)
    fees = round(base * 0.071)
    return {
        "id": state.new_id("aquote"),
        "createdOn": rfc3339(answered),
        "validUntil": rfc3339(answered + _QUOTE_LIFE),
        "lift": {"id": aircraft.id, "aircraftType": {"name": aircraft.type}},
        "sellerPrice": {"price": base + fees, "currency": OPERATORS[company].currency},
        "breakdown": {"basePrice": base, "taxesAndFees": fees},
        "sellerMessage": request.random("remark", aircraft.id).choice(_REMARKS),
    }


def _rfq(row: Mapping[str, Any], now: datetime, fields: frozenset[str]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "type": "rfqs",
        "createdOn": rfc3339(row["created"]),
        "quoteDeadline": row["deadline"],
        "sellerLift": [_seller_lift(lift, now, fields) for lift in row["lifts"]],
    }


def _seller_lift(lift: Mapping[str, Any], now: datetime, fields: frozenset[str]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": lift["id"],
        "sellerCompany": seller_company(lift["company"]),
        "sourcingStatus": 1,
        "sourcingDisplayStatus": "Unanswered",
    }
    if now < lift["answered"]:
        return shown
    quote = lift["quote"]
    status = (3, "Declined") if quote is None else (2, "Accepted")
    shown["sourcingStatus"], shown["sourcingDisplayStatus"] = status
    if "timestamps" in fields:
        shown["answeredOn"] = rfc3339(lift["answered"])
    if "latestquote" in fields and quote is not None:
        hidden = frozenset() if "quotebreakdown" in fields else {"breakdown"}
        shown["latestQuote"] = {name: quote[name] for name in quote if name not in hidden}
    return shown


def _refuse_account(request: MockRequest) -> MockReply | None:
    if "expired" in request.headers.get("authorization", ""):
        return _refused(401, "The access token has expired.")
    return None


def _refused(status: int, title: str, path: str = "") -> MockReply:
    refusal = Refusal(status=status, title=title, path=path)
    return MockReply(status=status, body=refuse(refusal))


def _invalid_airports(segments: list[dict[str, Any]]) -> list[dict[str, str]]:
    sides = (("startAirport", "START_AIRPORT_INVALID"), ("endAirport", "END_AIRPORT_INVALID"))
    return [
        {"title": "The airport is not valid.", "code": code, "path": f"segments[{index}].{side}"}
        for index, segment in enumerate(segments)
        for side, code in sides
        if segment[side]["icao"] == _INVALID_AIRPORT
    ]


def _one_page(rows: list[Any]) -> dict[str, int]:
    return {"pageNumber": 1, "batchSize": max(len(rows), 1), "totalCount": len(rows)}


def _meta(errors: list[dict[str, str]] | None = None, **more: Any) -> dict[str, Any]:
    return {"errors": errors or [], "warnings": [], "infos": [], **more}
