"""The behaviour of the Avinode mock: airports, searches, trips, messages, empty legs and watches.

Quotes and responses to messages arrive as mock time passes: each operator responds after a number
of minutes that the seed determines, and the listener of the webhook is notified. An access token
that contains `broker` belongs to an account that may not search; one that contains `expired` is
rejected. Codes that no airport can have, such as `ZZZZ`, are invalid: searches report them next to
the results, and nothing is created with them. Every other code is accepted, known or not. `forms`
has the other refusals.

Avinode's page of a trip is for people, so what follows a trip has no operation in its API. The
buyer opens the link and asks operators for quotes. They answer, and one of them adds a message. The
buyer books the first quote whose operator the broker writes to. Requests that were made through the
API are not booked: their buyer has no page to do it on. All of it is reported to the listener.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from gateway.connectors.avinode.mock.forms import (
    check_airports,
    check_days,
    check_route,
    check_segments,
    departure_of,
    finish,
    flight_facts,
    for_accounts,
    invalid_airports,
    listed,
    meta,
    operator_facts,
    point,
    quote_facts,
    refuse,
    refused,
    refused_as,
    send_webhook,
    stored,
)
from gateway.connectors.avinode.mock.market import (
    OPERATORS,
    airports,
    amenities_of,
    charter_options,
    empty_legs,
    flight_minutes,
    has_seats,
    quoted_aircraft,
    segment_passengers,
    seller_company,
)
from gateway.contract.connector import mock_behaviours
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
        raise refused(404, "A seller company does not exist.", "sellerCompanies")
    deadline = _deadline(request)
    if deadline is None:
        raise refused(422, "The deadline is not a moment.", "quoteDeadline")
    _check(request, companies, deadline)
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


def check_open(request: MockRequest, state: MockState, thread_id: str) -> None:
    """Refuse a message after the RFQ was closed or the quote has expired."""
    thread = state.find(THREADS, thread_id) or {}
    row = thread if "lifts" in thread else state.find(THREADS, thread.get("rfq", ""))
    if row is None:
        return  # The table was full, and the RFQ was removed.
    if row["created"] > request.now:
        raise refused(404, "There is no such thread.", "requestId")
    lift = next((each for each in row["lifts"] if each["id"] == thread_id), None)
    quote = None if lift is None or lift["answered"] > request.now else lift["quote"]
    if quote is not None:
        # The thread of a quote stays open until the quote expires, even if the RFQ is closed.
        if datetime.fromisoformat(quote["validUntil"]) < request.now:
            raise refused_as(409, "QUOTE_EXPIRED", "The quote has expired.", "requestId")
    elif row["deadline"] < request.now:
        raise refused_as(409, "RFQ_CLOSED", "The RFQ is closed.", "requestId")


def read_rfq(request: MockRequest, state: MockState) -> MockReply:
    row = state.find(THREADS, request.path["id"])
    if row is None or "lifts" not in row or row["created"] > request.now:
        raise refused(404, "There is no such RFQ.", "id")
    fields = frozenset(request.query.get("fields", "").split(","))
    return MockReply(body={"meta": meta(), "data": _shown(row, request.now, fields)})


def _check(request: MockRequest, companies: list[str], deadline: datetime) -> None:
    """Refuse an invalid RFQ."""
    segments = request.body["segments"]
    check_airports(segments)
    check_segments(segments, request.now)
    departure = departure_of(segments[0])
    if deadline <= request.now:
        title = "The deadline is in the past."
        raise refused_as(422, "DEADLINE_IN_PAST", title, "quoteDeadline")
    if departure is not None and deadline > departure:
        title = "The deadline is after the departure."
        raise refused_as(422, "DEADLINE_AFTER_DEPARTURE", title, "quoteDeadline")
    if not any(has_seats(company, segment_passengers(request)) for company in companies):
        title = "No aircraft of these sellers has enough seats."
        raise refused_as(422, "INSUFFICIENT_CAPACITY", title, "segments[0].paxCount")


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


_BOOKS_MINUTES: Final = 20
"""The time between the operator's answer and the booking."""


def bookable(
    request: MockRequest, state: MockState, lift_id: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The request of a thread and its lift, if the buyer would book its quote.

    The request came from a trip, and is booked once.
    """
    thread = state.find(THREADS, lift_id) or {}
    row = state.find(THREADS, thread.get("rfq", ""))
    if row is None or "trip" not in row or "booking" in row:
        return None
    chosen = next((lift for lift in quotes_of(row) if lift["id"] == lift_id), None)
    return None if chosen is None or chosen["answered"] > request.now else (row, chosen)


def book(
    request: MockRequest,
    state: MockState,
    row: Mapping[str, Any],
    chosen: Mapping[str, Any],
    answered: datetime,
) -> None:
    """Book the quote `chosen` of the request `row` some time after `answered`.

    The other quotes of the request are rejected.
    """
    moment = answered + (request.after(_BOOKS_MINUTES) - request.now)
    booking_id = state.new_id("abooking")
    state.add(THREADS, row["id"], {**row, "booking": booking_id})
    _report(state, row, chosen, booking_id, moment)


def _report(
    state: MockState,
    row: Mapping[str, Any],
    chosen: Mapping[str, Any],
    booking_id: str,
    moment: datetime,
) -> None:
    about = {"rfp_id": row["id"], "trip_id": row["trip"]}
    quote = quote_facts(about, chosen["id"], chosen["company"], chosen["quote"])
    accepted = {name: quote[name] for name in ("quote_id", "operator", "aircraft", "price")}
    send_webhook(state, moment, "quote_accepted", {**about, **accepted})
    for lift in quotes_of(row):
        if lift["id"] == chosen["id"]:
            continue
        ended = {**about, "quote_id": lift["quote"]["id"], "reason": "Another offer was booked."}
        send_webhook(state, max(moment, lift["answered"]), "quote_rejected", ended)
    booked = {
        **about,
        "booking_id": booking_id,
        "quote_id": quote["quote_id"],
        "operator": operator_facts(chosen["company"]),
        "aircraft": {name: quote["aircraft"][name] for name in ("type", "id")},
        "flight": row["flight"],
        "price": quote["price"],
    }
    send_webhook(state, moment + timedelta(seconds=1), "booking_confirmed", booked)


def quotes_of(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The operators that answer a request with a quote in time, now or later."""
    return [
        lift
        for lift in row["lifts"]
        if lift["quote"] is not None and lift["answered"] <= row["deadline"]
    ]


_MESSAGES: Final = "messages"
_MAX_ANSWER_MINUTES: Final = 30
_ASSENTS: Final = (
    "Thank you for your message. We confirm this.",
    "That is possible on this aircraft at no charge.",
)
_ANSWERS: Final = (
    *_ASSENTS,
    "We have asked the crew and come back to you today.",
    "We are sorry, that is not possible on this aircraft.",
)


def send_chat(request: MockRequest, state: MockState) -> MockReply:
    thread_id = request.path["requestId"]
    thread = state.find(THREADS, thread_id)
    if thread is None:
        raise refused(404, "There is no such thread.", "requestId")
    check_open(request, state, thread_id)
    message_id = state.new_id("amsg")
    row = {
        "created": request.now,
        "requestId": thread_id,
        "message": request.body["message"],
        "sender": {"side": "BUYER"},
    }
    state.add(_MESSAGES, message_id, row)
    for lift_id in _answering(thread_id, thread):
        found = bookable(request, state, lift_id) if lift_id == thread_id else None
        # Nobody books what its operator has just refused.
        answers = _ANSWERS if found is None else _ASSENTS
        answered = _answer(request, state, lift_id, message_id, answers)
        if found is not None:
            book(request, state, *found, answered)
    data = {"id": message_id, "type": "tripmsgs", "createdOn": rfc3339(request.now)}
    return stored(data)


def read_message(request: MockRequest, state: MockState) -> MockReply:
    message_id = request.path["id"]
    row = state.find(_MESSAGES, message_id)
    if row is None or row["created"] > request.now:
        raise refused(404, "There is no such message.", "id")
    data = {"id": message_id, "type": "tripmsgs", **row, "createdOn": rfc3339(row["created"])}
    del data["created"]
    return MockReply(body={"meta": meta(), "data": data})


def _answering(thread_id: str, thread: Mapping[str, Any]) -> list[str]:
    """The lifts whose operators receive the message: one, or all of a request."""
    return [lift["id"] for lift in thread["lifts"]] if "lifts" in thread else [thread_id]


def _answer(
    request: MockRequest, state: MockState, lift_id: str, question_id: str, answers: Sequence[str]
) -> datetime:
    """Schedule the response of a lift's operator. Returns its time, some minutes from now."""
    chance = request.random("chat", lift_id, question_id)
    moment = request.after(chance.randint(1, _MAX_ANSWER_MINUTES))
    say(request, state, lift_id, moment, chance.choice(answers))
    return moment


def say(request: MockRequest, state: MockState, lift_id: str, moment: datetime, text: str) -> None:
    """Schedule a message of a lift's operator for `moment`."""
    lift = state.find(THREADS, lift_id)
    if lift is None:
        return  # The table was full, and the lift was removed.
    company, message_id = seller_company(lift["company"]), state.new_id("asellermsg")
    row = {
        "created": moment,
        "requestId": lift_id,
        "rfqId": lift["rfq"],
        "message": text,
        "sender": {"side": "SELLER", "company": company, "displayName": company["displayName"]},
    }
    state.add(_MESSAGES, message_id, row)
    point(state, moment, f"{request.base_url}/tripmsgs/{message_id}")
    facts = _facts(message_id, row, operator_facts(lift["company"]))
    send_webhook(state, moment, "message_received", facts)


def _facts(message_id: str, row: Mapping[str, Any], operator: Mapping[str, Any]) -> dict[str, Any]:
    """A message as a signed message contains it."""
    return {
        "message_id": message_id,
        "thread_id": row["requestId"],
        "message": row["message"],
        "sender": {"type": "operator", "name": operator["name"]},
        "operator": operator,
        "rfp_id": row["rfqId"],
    }


_BROWSES_MINUTES: Final = 5
"""The time between the trip and the request for quotes."""
_REMARKS_MINUTES: Final = 10
_ASKED: Final = 4
"""How many operators the buyer asks."""
_REMARK: Final = (
    "We can hold this aircraft for you until tomorrow. Please tell us your catering wishes."
)


def ask_operators(request: MockRequest, state: MockState, trip_id: str) -> None:
    """Plan the buyer's request for quotes for the first flight of a new trip."""
    asked_at = request.after(_BROWSES_MINUTES)
    later = replace(request, now=asked_at)
    deadline = default_deadline(later)
    if deadline <= asked_at:
        return  # The flight departs before anybody could be asked.
    passengers = segment_passengers(request)
    able = [company for company in OPERATORS if has_seats(company, passengers)]
    chosen = sorted(request.random("asked", trip_id).sample(able, min(_ASKED, len(able))))
    row = open_rfq(later, state, chosen, deadline, trip_id)
    facts = {
        "rfp_id": row["id"],
        "trip_id": trip_id,
        "flight": flight_facts(request.body["segments"][0]),
        "quote_deadline": rfc3339(deadline),
    }
    send_webhook(state, asked_at, "rfq_received", facts)
    point(state, asked_at, f"{request.base_url}/rfqs/{row['id']}")
    _remark(request, state, row)


def _remark(request: MockRequest, state: MockState, row: Mapping[str, Any]) -> None:
    """The operator of the first quote adds a message."""
    quoted = quotes_of(row)
    if quoted:
        first = min(quoted, key=lambda lift: lift["answered"])
        pause = request.after(_REMARKS_MINUTES) - request.now
        say(request, state, first["id"], first["answered"] + pause, _REMARK)


__all__ = ["BASE_URL", "BEHAVIOURS", "finish", "refuse"]

_SITE: Final = "https://sandbox.avinode.com"
BASE_URL: Final = f"{_SITE}/api"


def search_airports(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query
    found = airports(
        query["filter"], query.get("country"), query.get("filterMatchType") == "starts_with"
    )
    number, size = query.get("page[number]", 1), query.get("page[size]", 10)
    page = {"pageNumber": number, "batchSize": size, "totalCount": len(found)}
    shown = found[(number - 1) * size : number * size]
    return MockReply(body={"meta": meta(pagination=page), "data": shown})


def search_charter_options(request: MockRequest, _state: MockState) -> MockReply:
    if "broker" in request.headers.get("authorization", ""):
        raise refused(403, "This account may not search; use the deep link of a trip.")
    segments = request.body["segments"]
    check_segments(segments, request.now)
    found = charter_options(request, segments[0])
    took = request.random().randint(400, 1200)
    return listed(found, invalid_airports(segments), queryTimeMs=took)


def create_trip(request: MockRequest, state: MockState) -> MockReply:
    segments = request.body["segments"]
    check_airports(segments)
    check_segments(segments, request.now)
    trip_id = state.new_id("atrip")
    state.add("trips", trip_id, request.body)
    trip = _trip(trip_id, request.base_url)
    facts = {"trip_id": trip_id, "deep_link": trip["actions"]["searchInAvinode"]["href"]}
    flight = flight_facts(segments[0])
    send_webhook(state, request.now, "trip_created", {**facts, "flight": flight})
    ask_operators(request, state, trip_id)
    return stored(trip)


def search_empty_legs(request: MockRequest, _state: MockState) -> MockReply:
    check_route(request.body)
    check_days(request.body["dateRange"], request.now)
    return listed(empty_legs(request), invalid_airports([request.body]))


def create_watch(request: MockRequest, state: MockState) -> MockReply:
    check_airports([request.body])
    check_route(request.body)
    check_days(request.body["dateRange"], request.now)
    watch_id = state.new_id("awatch")
    state.add("watches", watch_id, request.body)
    data = {
        "id": watch_id,
        "type": "emptylegwatches",
        "status": "ACTIVE",
        "createdOn": rfc3339(request.now),
    }
    return stored(data)


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "searchAirports": for_accounts(search_airports),
        "searchCharterOptions": for_accounts(search_charter_options),
        "createTrip": for_accounts(create_trip),
        "createRfq": for_accounts(create_rfq),
        "readRfq": for_accounts(read_rfq),
        "readTripMessage": for_accounts(read_message),
        "sendChat": for_accounts(send_chat),
        "searchEmptyLegs": for_accounts(search_empty_legs),
        "createWatch": for_accounts(create_watch),
    },
)


def _trip(trip_id: str, base_url: str) -> dict[str, Any]:
    page = f"{_SITE}/marketplace/mvc"
    return {
        "id": trip_id,
        "type": "trips",
        "href": f"{base_url}/trips/{trip_id}",
        "actions": {
            "searchInAvinode": {
                "description": "Search for aircraft",
                "href": f"{page}/search/load/{trip_id}?source=api&origin=api_action",
            },
            "viewInAvinode": {"href": f"{page}/trips/buying/{trip_id}?source=api"},
            "cancel": {"href": f"{base_url}/trips/{trip_id}/cancel"},
        },
    }
