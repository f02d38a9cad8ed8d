"""Requests for quotes in the Avinode mock: operators respond as mock time passes.

When a request is created, the seed determines the content and the time of each response.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from gateway.connectors.avinode.mock.envelope import meta, refused, refused_as, stored
from gateway.connectors.avinode.mock.fleet import OPERATORS
from gateway.connectors.avinode.mock.market import (
    amenities_of,
    flight_minutes,
    has_seats,
    quoted_aircraft,
    segment_passengers,
    seller_company,
)
from gateway.connectors.avinode.mock.rules import departure_of, wrong_airports, wrong_segments
from gateway.connectors.avinode.mock.webhooks import flight_facts, point, quote_facts, send_webhook
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.fields.fieldmap import as_date_time
from gateway.contract.mock import MockReply, MockRequest, MockState

THREADS: Final = "threads"
"""The table of threads: requests, and the operators' responses to them."""
_QUOTE_LIFE: Final = timedelta(days=5)
_TIME_TO_QUOTE: Final = timedelta(hours=24)
_MEAN_RESPONSE_MINUTES: Final = 35
_MAX_RESPONSE_MINUTES: Final = 600
_DECLINES: Final = 0.15
_FEES: Final = 0.071
_REMARKS: Final = (
    "Pets are welcome on this aircraft.",
    "Wi-Fi on board, catering on request.",
    "Price holds for the times as requested.",
    "Crew of two, cabin attendant included.",
)


def create_rfq(request: MockRequest, state: MockState) -> MockReply:
    companies = [each["id"] for each in request.body["sellerCompanies"]]
    if not OPERATORS.keys() >= set(companies):
        return refused(404, "A seller company does not exist.", "sellerCompanies")
    deadline = _deadline(request)
    if deadline is None:
        return refused(422, "The deadline is not a moment.", "quoteDeadline")
    wrong = _wrong(request, companies, deadline)
    if wrong is not None:
        return wrong
    row = open_rfq(request, state, companies, deadline)
    return stored(_shown(row, request.now, frozenset()))


def open_rfq(
    request: MockRequest,
    state: MockState,
    companies: Sequence[str],
    deadline: datetime,
    trip_id: str | None = None,
) -> dict[str, Any]:
    """Store a request for quotes that is sent at `request.now`, with the answers to come."""
    # A trip's request has the number of the trip, so that it takes none of the next requests.
    rfq_id = f"arfq-t{trip_id.rpartition('-')[2]}" if trip_id else state.new_id("arfq")
    lifts = [_lift(request, state, rfq_id, company) for company in companies]
    row: dict[str, Any] = {
        "id": rfq_id,
        "created": request.now,
        "deadline": deadline,
        "lifts": lifts,
        "flight": flight_facts(request.body["segments"][0]),
    }
    if trip_id is not None:
        row["trip"] = trip_id
    state.add(THREADS, rfq_id, row)
    for lift in lifts:
        if lift["answered"] <= deadline:
            _announce(state, f"{request.base_url}/rfqs/{rfq_id}", row, lift)
    return row


def refusal_to_talk(request: MockRequest, state: MockState, thread_id: str) -> MockReply | None:
    """The refusal of a message after the RFQ was closed or the quote has expired, or None."""
    thread = state.find(THREADS, thread_id) or {}
    row = thread if "lifts" in thread else state.find(THREADS, thread.get("rfq", ""))
    if row is None:
        return None  # The table was full, and the RFQ was removed.
    if row["created"] > request.now:
        return refused(404, "There is no such thread.", "requestId")
    lift = next((each for each in row["lifts"] if each["id"] == thread_id), None)
    quote = None if lift is None or lift["answered"] > request.now else lift["quote"]
    if quote is not None:
        # The thread of a quote stays open until the quote expires, even if the RFQ is closed.
        if datetime.fromisoformat(quote["validUntil"]) < request.now:
            return refused_as(409, "QUOTE_EXPIRED", "The quote has expired.", "requestId")
        return None
    if row["deadline"] < request.now:
        return refused_as(409, "RFQ_CLOSED", "The RFQ is closed.", "requestId")
    return None


def read_rfq(request: MockRequest, state: MockState) -> MockReply:
    row = state.find(THREADS, request.path["id"])
    if row is None or "lifts" not in row or row["created"] > request.now:
        return refused(404, "There is no such RFQ.", "id")
    fields = frozenset(request.query.get("fields", "").split(","))
    return MockReply(body={"meta": meta(), "data": _shown(row, request.now, fields)})


def _wrong(request: MockRequest, companies: list[str], deadline: datetime) -> MockReply | None:
    """The refusal of an invalid RFQ, or None."""
    segments = request.body["segments"]
    wrong = wrong_airports(segments) or wrong_segments(segments, request.now)
    if wrong is not None:
        return wrong
    departure = departure_of(segments[0])
    if deadline <= request.now:
        title = "The deadline is in the past."
        return refused_as(422, "DEADLINE_IN_PAST", title, "quoteDeadline")
    if departure is not None and deadline > departure:
        title = "The deadline is after the departure."
        return refused_as(422, "DEADLINE_AFTER_DEPARTURE", title, "quoteDeadline")
    if not any(has_seats(company, segment_passengers(request)) for company in companies):
        title = "No aircraft of these sellers has enough seats."
        return refused_as(422, "INSUFFICIENT_CAPACITY", title, "segments[0].paxCount")
    return None


def _deadline(request: MockRequest) -> datetime | None:
    """The deadline; None for a date-time outside the range of `datetime`."""
    text = request.body.get("quoteDeadline")
    if text is None:
        return default_deadline(request)
    try:
        return datetime.fromisoformat(as_date_time(text))
    except ValueError:
        return None


def default_deadline(request: MockRequest) -> datetime:
    """A day from now, but not after the departure."""
    usual = request.now + _TIME_TO_QUOTE
    departure = departure_of(request.body["segments"][0])
    return usual if departure is None else min(usual, departure)


def _lift(request: MockRequest, state: MockState, rfq_id: str, company: str) -> dict[str, Any]:
    chance = request.random("answer", rfq_id, company)
    lift_id = state.new_id("alift")
    state.add(THREADS, lift_id, {"rfq": rfq_id, "company": company})
    answered = request.after(_response_minutes(chance))
    is_willing = chance.random() >= _DECLINES
    is_declined = not (is_willing and has_seats(company, segment_passengers(request)))
    quote = None if is_declined else _quote(request, state, company, answered)
    return {"id": lift_id, "company": company, "answered": answered, "quote": quote}


def _announce(state: MockState, href: str, row: Mapping[str, Any], lift: Mapping[str, Any]) -> None:
    """Schedule the messages about an operator's response and, for a quote, about its expiry."""
    point(state, lift["answered"], href)
    quote = lift["quote"]
    about = {"rfp_id": row["id"], **({"trip_id": row["trip"]} if "trip" in row else {})}
    if quote is not None:
        facts = quote_facts(about, lift["id"], lift["company"], quote)
        send_webhook(state, lift["answered"], "quote_received", facts)
        ended = {"quote_id": quote["id"], **about}
        send_webhook(state, lift["answered"] + _QUOTE_LIFE, "quote_expired", ended)


def _response_minutes(chance: Random) -> int:
    """Most operators respond within an hour, a few much later."""
    minutes = int(chance.expovariate(1 / _MEAN_RESPONSE_MINUTES))
    return min(1 + minutes, _MAX_RESPONSE_MINUTES)


def _quote(
    request: MockRequest, state: MockState, company: str, answered: datetime
) -> dict[str, Any]:
    aircraft, base = quoted_aircraft(request, company)
    fees = round(base * _FEES)
    return {
        "id": state.new_id("aquote"),
        "createdOn": rfc3339(answered),
        "validUntil": rfc3339(answered + _QUOTE_LIFE),
        "lift": {
            "id": aircraft.id,
            "aircraftType": {"name": aircraft.type},
            "aircraftCategory": {"name": aircraft.category},
            "amenities": amenities_of(aircraft),
        },
        "flightMinutes": flight_minutes(request, aircraft),
        "sellerPrice": {"price": base + fees, "currency": OPERATORS[company].currency},
        "breakdown": {"basePrice": base, "taxesAndFees": fees},
        "sellerMessage": request.random("remark", aircraft.id).choice(_REMARKS),
    }


def _shown(row: Mapping[str, Any], now: datetime, fields: frozenset[str]) -> dict[str, Any]:
    deadline: datetime = row["deadline"]
    until = min(now, deadline)
    return {
        "id": row["id"],
        "type": "rfqs",
        **({"tripId": row["trip"]} if "trip" in row else {}),
        "createdOn": rfc3339(row["created"]),
        "quoteDeadline": _moment(deadline),
        "sellerLift": [_shown_lift(lift, until, fields) for lift in row["lifts"]],
    }


def _moment(moment: datetime) -> str:
    """RFC 3339 in UTC, for every valid year."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _shown_lift(lift: Mapping[str, Any], until: datetime, fields: frozenset[str]) -> dict[str, Any]:
    """An operator in the request, with its response up to the time `until`."""
    shown: dict[str, Any] = {
        "id": lift["id"],
        "sellerCompany": seller_company(lift["company"]),
        "sourcingStatus": 1,
        "sourcingDisplayStatus": "Unanswered",
    }
    if until < lift["answered"]:
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
