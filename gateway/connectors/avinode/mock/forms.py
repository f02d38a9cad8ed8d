"""The forms of the Avinode mock: replies with their errors, the refusals of flights, and webhooks.

Each change is a signed message, and for some a pointer. The sender chooses one of the two forms,
because no listener uses both.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from gateway.connectors.avinode.mock.market import OPERATORS
from gateway.connectors.avinode.webhook_fields import category_of
from gateway.connectors.days import first_day
from gateway.contract.fields.conversion import as_date_time, rfc3339
from gateway.contract.mock import (
    Behaviour,
    MockMessage,
    MockRefusal,
    MockRefused,
    MockReply,
    MockRequest,
    MockState,
)

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


def refuse(refusal: MockRefusal) -> Any:
    """Avinode's envelope with one error."""
    code = _CODES.get(refusal.status, "ERR_INTERNAL_CRITICAL")
    return {"meta": meta([{"title": refusal.title, "code": code, "path": refusal.path}])}


def finish(reply: MockReply) -> MockReply:
    """Adds the rate headers. The limit is never used up, except by an injected fault."""
    return MockReply(status=reply.status, headers={**_RATE, **reply.headers}, body=reply.body)


def refused(status: int, title: str, path: str = "") -> MockRefused:
    """A refusal by a behaviour."""
    refusal = MockRefusal(status=status, title=title, path=path)
    return MockRefused(MockReply(status=status, body=refuse(refusal)))


def refused_as(status: int, code: str, title: str, path: str = "") -> MockRefused:
    """A refusal by a behaviour, with its own code."""
    error = {"title": title, "code": code, "path": path}
    return MockRefused(MockReply(status=status, body={"meta": meta([error])}))


def stored(data: Mapping[str, Any]) -> MockReply:
    """The reply for a created resource."""
    return MockReply(status=201, body={"meta": meta(), "data": data})


def listed(rows: list[dict[str, Any]], errors: list[dict[str, str]], **more: Any) -> MockReply:
    """All `rows` on one page."""
    page = {"pageNumber": 1, "batchSize": max(len(rows), 1), "totalCount": len(rows)}
    return MockReply(body={"meta": meta(errors, pagination=page, **more), "data": rows})


def for_accounts(behaviour: Behaviour) -> Behaviour:
    """`behaviour` for clients whose access token has not expired."""

    def answer(request: MockRequest, state: MockState) -> MockReply:
        if "expired" in request.headers.get("authorization", ""):
            raise refused(401, "The access token has expired.")
        return behaviour(request, state)

    return answer


def meta(errors: list[dict[str, str]] | None = None, **more: Any) -> dict[str, Any]:
    """The part of the envelope beside `data`."""
    return {"errors": errors or [], "warnings": [], "infos": [], **more}


_NO_AIRPORT: Final = frozenset("IJQX")
"""No ICAO code of an airport begins with one of these letters."""
_NOWHERE: Final = "ZZZZ"
"""The ICAO code for a location without a code."""


def invalid_airports(segments: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The errors of airports that Avinode does not accept."""
    sides = (("startAirport", "START_AIRPORT_INVALID"), ("endAirport", "END_AIRPORT_INVALID"))
    return [
        {"title": "The airport is not valid.", "code": code, "path": f"segments[{index}].{side}"}
        for index, segment in enumerate(segments)
        for side, code in sides
        if _is_no_airport(segment[side]["icao"])
    ]


def check_airports(segments: Sequence[Mapping[str, Any]]) -> None:
    """Refuse segments with an invalid airport.

    Avinode may store the valid part and reply with 200 and the error. A repeated request could not
    correct that, so the mock stores nothing.
    """
    for error in invalid_airports(segments):
        raise refused_as(422, error["code"], error["title"], error["path"])


def check_segments(segments: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Refuse impossible flights."""
    for index, segment in enumerate(segments):
        path = f"segments[{index}]"
        check_route(segment, path)
        if _is_past(segment, now):
            title = "The departure is in the past."
            raise refused_as(422, "DEPARTURE_IN_PAST", title, f"{path}.dateTime")


def check_route(ends: Mapping[str, Any], path: str = "") -> None:
    """Refuse a flight whose departure and arrival are the same airport."""
    if ends["startAirport"]["icao"] == ends["endAirport"]["icao"]:
        title = "Departure and arrival are the same airport."
        raise refused_as(422, "SAME_AIRPORT", title, path)


def check_days(days: Mapping[str, str], now: datetime) -> None:
    """Refuse a range of days that is over."""
    if days["to"] < first_day(now):
        raise refused_as(422, "DATES_IN_PAST", "The last day is in the past.", "dateRange.to")


def _is_no_airport(code: str) -> bool:
    return code == _NOWHERE or code[0] in _NO_AIRPORT


def departure_of(segment: Mapping[str, Any]) -> datetime | None:
    """When a flight departs; None if its time is not in UTC, not known or no time of day."""
    leaves = segment["dateTime"]
    if leaves.get("time") is None or leaves.get("local", True):
        return None
    try:
        return datetime.fromisoformat(as_date_time(f"{leaves['date']}T{leaves['time']}:00Z"))
    except ValueError:
        return None  # Not a time of day; the code that reads the segment reports it.


def _is_past(segment: Mapping[str, Any], now: datetime) -> bool:
    """Compares minutes if the time is in UTC, otherwise days."""
    departure = departure_of(segment)
    return segment["dateTime"]["date"] < first_day(now) or (
        departure is not None and departure < now
    )


def send_webhook(state: MockState, moment: datetime, event: str, facts: Mapping[str, Any]) -> None:
    """Schedule a signed message for `moment`."""
    facts_sent = {"event_type": event, "timestamp": rfc3339(moment), **facts}
    message_id = f"evt-{_digest(facts_sent)}"
    payload = {"event_id": message_id, **facts_sent}
    state.later(moment, MockMessage(id=message_id, event=event, payload=payload))


def point(state: MockState, moment: datetime, href: str) -> None:
    """Schedule a pointer to a new or changed resource, `<base URL>/<kind>/<id>`, for `moment`."""
    _, kind, thing_id = href.rsplit("/", 2)
    payload = {"id": thing_id, "href": href, "type": kind}
    message_id = f"apointer-{_digest([rfc3339(moment), payload])}"
    state.later(moment, MockMessage(id=message_id, event=kind, payload=payload))


def _digest(facts_sent: Any) -> str:
    """A digest. The listener would already have the numbers of a counter after a restart."""
    text = msgspec.json.encode(facts_sent, order="deterministic")
    return hashlib.sha256(text).hexdigest()[:24]


def operator_facts(company: str) -> dict[str, Any]:
    """An operator as in signed messages."""
    operator = OPERATORS[company]
    return {
        "id": operator.id,
        "name": operator.name,
        "rating": operator.rating,
        "safety_rating": operator.safety_rating,
    }


def flight_facts(segment: Mapping[str, Any]) -> dict[str, Any]:
    """A flight as in signed messages. The departure is present if it is a valid date-time."""
    facts = {
        "departure_airport": segment["startAirport"]["icao"],
        "arrival_airport": segment["endAirport"]["icao"],
        "passengers": int(segment["paxCount"]),
    }
    leaves = segment["dateTime"]
    try:
        moment = as_date_time(f"{leaves['date']}T{leaves.get('time', '00:00')}:00Z")
    except ValueError:
        return facts
    return {**facts, "departure_at": moment}


def quote_facts(
    about: Mapping[str, str], lift_id: str, company: str, quote: Mapping[str, Any]
) -> dict[str, Any]:
    """A quote as in signed messages. `about`: the ids of its request, and of the trip if any."""
    lift, price, parts = quote["lift"], quote["sellerPrice"], quote["breakdown"]
    category = category_of(lift["aircraftCategory"]["name"])
    return {
        **about,
        "quote_id": quote["id"],
        "thread_id": lift_id,
        "operator": operator_facts(company),
        "aircraft": {
            "type": lift["aircraftType"]["name"],
            "id": lift["id"],
            **({"category": category} if category else {}),
            "amenities": lift["amenities"],
        },
        "flight_minutes": quote["flightMinutes"],
        "price": {
            "total": price["price"],
            "currency": price["currency"],
            "base": parts["basePrice"],
            "taxes_fees": parts["taxesAndFees"],
        },
        "valid_until": quote["validUntil"],
        "notes": quote["sellerMessage"],
    }
