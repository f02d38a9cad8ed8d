"""Each tool of a vendor: what its result is made of, and how each of its declared errors comes."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tests.fakes import avinode, golf, google, postgrest, travel
from tests.fakes.wire import Answer

RFP = {"rfp_id": "arfq-1"}
FLIGHT = {
    "departure_airport": "KTEB",
    "arrival_airport": "KVNY",
    "passengers": 6,
    "departure_date": "2026-12-01T15:00:00Z",
}
SEARCH = {**FLIGHT, "departure_date": "2026-12-01"}
DAYS = {"date_range": {"from": "2026-12-14", "to": "2026-12-16"}}
LEGS = {"departure_airport": "KTEB", "arrival_airport": "KOPF", "passengers": 4, **DAYS}
MAIL = {"to": "client@example.com", "subject": "Grüße", "body": "<p>Guten Tag</p>"}
CONFIRMED = {
    "client_name": "John Doe",
    "booking_reference": "BK-1",
    "departure_airport": "Teterboro (KTEB)",
    "arrival_airport": "Van Nuys (KVNY)",
    "departure_date": "2026-12-01",
    "departure_time": "15:00",
    "aircraft_type": "Citation X",
    "operator_name": "Jets",
    "passengers": 6,
    "total_price_usd": 48200,
    "contact_phone": "+1 555 123 4567",
}
BOOKING = {
    "tee_time_id": "tt-course-001-20261201-0830",
    "date": "2026-12-01",
    "time": "08:30",
    "players": 4,
    "idempotency_key": "0b9a1b52-7c1d-4b5e-8a52-3f5d2b9d1c01",
}
TEE_TIMES = {"date": "2026-12-03", "players": 4}
BOOK_FIRST = {**TEE_TIMES, "auto_book": True, "idempotency_key": BOOKING["idempotency_key"]}
FLOWN = {"date": "2026-11-18", "route": "KTEB-KVNY", "aircraft": "Citation X", "operator": "1"}
RECORD = {"client_id": "CL-001", "flight_details": {**FLOWN, "price": 45000}}
STAY = {"city_code": "LON", "check_in_date": "2027-03-15", "check_out_date": "2027-03-18"}
ROUTE = {"origin": "JFK", "destination": "LHR", "departure_date": "2027-03-15"}
WORKFLOW = {"request_id": "req-1", "state": "CREATED", "priority": "high"}
QUOTES = {"quotes": [{"quote_id": "q-1", "total_price_usd": 45000}]}


class Refused(Struct, frozen=True, kw_only=True):
    """How a declared error comes about."""

    reason: str
    arguments: Mapping[str, Any] | None = None
    """Other arguments than those of the case."""
    at: str = ""
    """The request that the vendor refuses: the begin of `METHOD path`."""
    answer: Answer | None = None
    sheets: Mapping[str, list[list[Any]]] | None = None
    """The spreadsheet in place of the usual one."""


class Case(Struct, frozen=True, kw_only=True):
    """One tool."""

    tool: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    """A part of the result."""
    errors: tuple[Refused, ...] = ()


def avinode_refusals(at: str, **codes: str) -> tuple[Refused, ...]:
    """Errors by code. Where the code is soft, the vendor answers 200 with it."""
    found = []
    for reason, code in codes.items():
        answer = avinode.soft(code, f"About {code}")
        if code in {"RFQ_CLOSED", "QUOTE_EXPIRED"}:
            answer = avinode.error(409, code, f"About {code}")
        found.append(Refused(reason=reason, at=at, answer=answer))
    refused = avinode.error(422, "ERR_INPUT_GENERIC_INVALID", "The request is not valid")
    return (*found, Refused(reason="request_refused", at=at, answer=refused))


def of_flight(at: str, **more: str) -> tuple[Refused, ...]:
    return avinode_refusals(
        at, airport_not_found="START_AIRPORT_INVALID", same_airport="SAME_AIRPORT", **more
    )


MISSING = avinode.error(404, "NOT_FOUND", "There is nothing with this id")
NO_RFQ = (Refused(reason="rfp_not_found", at="GET /api/rfqs", answer=MISSING),)
AVINODE = (
    Case(
        tool="avinode.search_airports",
        arguments={"query": "Teterboro"},
        result={"airports": [{"icao": "KTEB", "name": "Teterboro", "city": "Teterboro"}]},
    ),
    Case(
        tool="avinode.search_flights",
        arguments=SEARCH,
        result={"aircraft": [], "total": 0},
        errors=of_flight("POST /api/searches", departure_in_past="DEPARTURE_IN_PAST"),
    ),
    Case(
        tool="avinode.search_empty_legs",
        arguments=LEGS,
        result={"empty_legs": [{"id": "el-1", "discount": 45}], "total": 1},
        errors=of_flight("POST /api/emptylegs/search", dates_in_past="DATES_IN_PAST"),
    ),
    Case(
        tool="avinode.create_trip",
        arguments=FLIGHT,
        result={"trip_id": "atrip-1", "deep_link": "https://sandbox.avinode.com/s/1"},
        errors=of_flight("POST /api/trips", departure_in_past="DEPARTURE_IN_PAST"),
    ),
    Case(
        tool="avinode.create_rfp",
        arguments={"flight_details": FLIGHT, "operator_ids": ["1", "2"]},
        result={"rfp_id": "arfq-1", "operators_notified": 2},
        errors=(
            Refused(reason="operator_not_found", at="POST /api/rfqs", answer=MISSING),
            *of_flight(
                "POST /api/rfqs",
                departure_in_past="DEPARTURE_IN_PAST",
                deadline_in_past="DEADLINE_IN_PAST",
                insufficient_capacity="INSUFFICIENT_CAPACITY",
            ),
        ),
    ),
    Case(tool="avinode.get_rfp_status", arguments=RFP, result={"quoted": 1}, errors=NO_RFQ),
    Case(tool="avinode.get_quote_status", arguments=RFP, result=RFP, errors=NO_RFQ),
    Case(
        tool="avinode.get_quotes",
        arguments=RFP,
        result={"quotes": [{"quote_id": "aquote-1", "aircraft_type": "Citation X"}]},
        errors=NO_RFQ,
    ),
    Case(
        tool="avinode.create_watch",
        arguments={"departure_airport": "KTEB", "arrival_airport": "KPBI", **DAYS},
        result={"watch_id": "awatch-1", "status": "active"},
        errors=of_flight("POST /api/emptylegs/watches", dates_in_past="DATES_IN_PAST"),
    ),
    Case(
        tool="avinode.send_message",
        arguments={"thread_id": "arfq-1", "message": "Is there Wi-Fi?\nThanks."},
        result={"message_id": "abuyermsg-1"},
        errors=(
            Refused(reason="thread_not_found", at="POST /api/tripmsgs", answer=MISSING),
            *avinode_refusals(
                "POST /api/tripmsgs", rfp_closed="RFQ_CLOSED", quote_expired="QUOTE_EXPIRED"
            ),
        ),
    ),
)

GONE = google.error(404, "NOT_FOUND", "Requested entity was not found.", "notFound")
BAD_MAIL = google.error(400, "INVALID_ARGUMENT", "Invalid To header", "invalidArgument")
READ_MAIL = {"subject": "Grüße", "body_text": "Grüße aus Köln", "from": "ada@example.com"}


def refused_mail(at: str) -> tuple[Refused, ...]:
    return (Refused(reason="mail_refused", at=at, answer=BAD_MAIL),)


SEND, MESSAGES, THREADS = (
    f"{method} /gmail/v1/users/me/{rest}"
    for method, rest in (("POST", "messages/send"), ("GET", "messages"), ("GET", "threads"))
)
GMAIL = (
    Case(
        tool="gmail.send_email",
        arguments=MAIL,
        result={"thread_id": "18c1"},
        errors=refused_mail(SEND),
    ),
    Case(
        tool="gmail.send_template_email",
        arguments={
            "to": "client@example.com",
            "template_name": "booking_confirmation",
            "template_data": CONFIRMED,
        },
        result={"thread_id": "18c1"},
        errors=refused_mail(SEND),
    ),
    Case(
        tool="gmail.create_draft",
        arguments=MAIL,
        result={"draft_id": "r-1"},
        errors=refused_mail("POST /gmail/v1/users/me/drafts"),
    ),
    Case(
        tool="gmail.get_email",
        arguments={"message_id": "18c0"},
        result=READ_MAIL,
        errors=(Refused(reason="email_not_found", at=MESSAGES, answer=GONE),),
    ),
    Case(
        tool="gmail.get_thread_history",
        arguments={"thread_id": "18c0"},
        result={"messages": [{"subject": "Grüße"}]},
        errors=(Refused(reason="thread_not_found", at=THREADS, answer=GONE),),
    ),
)

_NAMES = (
    "client_id name email phone company aircraft_preference catering_preference special_needs",
    "vip_status total_flights last_flight_date preferred_operators created_at updated_at",
)
HEADER = [name for line in _NAMES for name in line.split()]
JOHN = ["CL-001", "John Smith", "john@example.com", "", "", "midsize", "", "", "gold", 2]
BOOK: Mapping[str, list[list[Any]]] = {
    "Clients": [HEADER, JOHN],
    "Flight History": [["client_id", "date", "route", "aircraft", "operator", "price"]],
    "Preferences": [["a", "b"], ["x", 1], [], ["y", ""]],
}
NO_HEADER: Mapping[str, list[list[Any]]] = {**BOOK, "Clients": [JOHN]}
TWICE: Mapping[str, list[list[Any]]] = {**BOOK, "Clients": [HEADER, JOHN, JOHN]}
NO_HISTORY = {name: rows for name, rows in BOOK.items() if name != "Flight History"}
UNUSABLE = (Refused(reason="client_sheet_unusable", sheets=NO_HEADER),)
UNCLEAR = (Refused(reason="client_ambiguous", sheets=TWICE), *UNUSABLE)
NOBODY = {"client_id": "CL-999"}
VALUES = "PUT /v4/spreadsheets"
SHEETS = (
    Case(
        tool="sheets.get_client",
        arguments={"identifier": "john@example.com"},
        result={"client_id": "CL-001", "vip_status": "gold"},
        errors=(
            Refused(reason="client_not_found", arguments={"identifier": "x@example.com"}),
            *UNCLEAR,
        ),
    ),
    Case(
        tool="sheets.get_client_details",
        arguments={"client_id": "CL-001"},
        result={"name": "John Smith"},
        errors=(Refused(reason="client_not_found", arguments=NOBODY), *UNCLEAR),
    ),
    Case(tool="sheets.list_clients", arguments={}, result={"total": 1}, errors=UNUSABLE),
    Case(
        tool="sheets.search_client",
        arguments={"query": "John", "fields": ["name"]},
        result={"clients": [{"name": "John Smith"}]},
        errors=UNUSABLE,
    ),
    Case(
        tool="sheets.search_clients",
        arguments={"query": "smith"},
        result={"clients": [{"client_id": "CL-001"}]},
        errors=UNUSABLE,
    ),
    Case(
        tool="sheets.read_sheet",
        arguments={"range": "Preferences!A1:F100"},
        result={"row_count": 4},
        errors=(
            Refused(
                reason="spreadsheet_not_readable",
                arguments={"sheet_id": "book-2", "range": "A!A1:B2"},
            ),
            Refused(reason="range_not_found", arguments={"range": "Nothing!A1:B2"}),
        ),
    ),
    Case(
        tool="sheets.update_client",
        arguments={"client_id": "CL-001", "updates": {"catering_preference": "=vegan"}},
        result={"updated_fields": ["catering_preference"]},
        errors=(
            Refused(
                reason="client_not_found",
                arguments={**NOBODY, "updates": {"catering_preference": "x"}},
            ),
            Refused(
                reason="client_moved",
                at=VALUES,
                answer=Answer(
                    200, {"updatedRange": "Clients!A2:N2", "updatedData": {"values": [["CL-777"]]}}
                ),
            ),
            *UNCLEAR,
        ),
    ),
    Case(
        tool="sheets.add_flight_history",
        arguments=RECORD,
        result={"client_id": "CL-001", "total_flights": 3},
        errors=(
            Refused(reason="client_not_found", arguments={**RECORD, **NOBODY}),
            Refused(reason="history_sheet_missing", sheets=NO_HISTORY),
            Refused(
                reason="client_not_counted",
                at=VALUES,
                answer=google.error(400, "INVALID_ARGUMENT", "You are editing a protected cell"),
            ),
            *UNCLEAR,
        ),
    ),
)

CONFLICT = Refused(
    reason="conflict",
    at="POST /rest/v1/iso_workflows",
    answer=postgrest.error(409, "23505", "duplicate key value violates unique constraint"),
)
LATER = tuple(
    Refused(reason=reason, at=at, answer=postgrest.error(status, code, message))
    for at in ("PATCH /rest/v1/iso_workflows",)
    for reason, status, code, message in (
        ("conflict", 409, "23503", "violates foreign key constraint"),
        ("too_many_rows", 400, "PGRST124", "Query result exceeds max-affected preference"),
    )
)
SUPABASE = (
    Case(
        tool="supabase.query",
        arguments={"table": "iso_workflows", "filters": {"request_id": None}, "select": "id,state"},
        result={"rows": [{"state": "CREATED"}], "count": 1},
    ),
    Case(
        tool="supabase.insert",
        arguments={"table": "iso_workflows", "data": WORKFLOW},
        result={"count": 1},
        errors=(CONFLICT,),
    ),
    Case(
        tool="supabase.update",
        arguments={
            "table": "iso_workflows",
            "filters": {"request_id": "req-1"},
            "data": {"state": "ANALYZING"},
        },
        result={"rows": [{"state": "ANALYZING"}]},
        errors=LATER,
    ),
    Case(
        tool="supabase.delete",
        arguments={"table": "iso_workflows", "filters": {"state": {"in": ["CREATED", 'a"b,c']}}},
        result={"count": 1},
        errors=tuple(
            Refused(reason=e.reason, at="DELETE /rest/v1/iso_workflows", answer=e.answer)
            for e in LATER
        ),
    ),
    Case(
        tool="supabase.rpc",
        arguments={"function": "calculate_quote_scores", "params": QUOTES},
        result={"result": {"scores": [{"quote_id": "q-1"}]}},
    ),
)

NO_PLACE = travel.amadeus_error(400, 477, "INVALID FORMAT", parameter="originLocationCode")
NO_DAY = travel.amadeus_error(400, 425, "INVALID DATE", parameter="departureDate")
HOTELS = "GET /v1/reference-data/locations/hotels"
TRAVEL = (
    Case(
        tool="amadeus.get_airport_code",
        arguments={"city_name": "New York"},
        result={"code": "NYC"},
        errors=(
            Refused(
                reason="city_not_found",
                at="GET /v1/reference-data/locations",
                answer=Answer(200, {"meta": {"count": 0}, "data": []}),
            ),
        ),
    ),
    Case(
        tool="amadeus.search_flights",
        arguments=ROUTE,
        result={"flights": [{"airline": "BRITISH AIRWAYS", "original_amount": "380.00"}]},
        errors=(
            Refused(reason="airport_not_found", at="GET /v2/shopping", answer=NO_PLACE),
            Refused(reason="dates_refused", at="GET /v2/shopping", answer=NO_DAY),
        ),
    ),
    Case(
        tool="amadeus.search_hotels",
        arguments=STAY,
        result={"hotels": [{"name": "HOTEL ONE", "price": 540.0}]},
        errors=(
            Refused(
                reason="city_not_found",
                at=HOTELS,
                answer=travel.amadeus_error(400, 1157, "INVALID CITY CODE"),
            ),
            Refused(
                reason="dates_refused",
                at="GET /v3/shopping",
                answer=travel.amadeus_error(400, 404, "CHECK-IN DATE IS INVALID"),
            ),
        ),
    ),
    Case(
        tool="frankfurter.convert_currency",
        arguments={"amount": "100.00", "from": "EUR", "to": "USD"},
        result={"amount": "108.00", "rate_source": "live", "date": "2026-11-19"},
        errors=(
            Refused(
                reason="unknown_currency", arguments={"amount": "1", "from": "EUR", "to": "XXX"}
            ),
        ),
    ),
    Case(
        tool="weather.get_weather",
        arguments={"location": "Paris, FR", "units": "metric"},
        result={"location": {"name": "Paris"}, "current": {"condition": "Rain"}},
        errors=(
            Refused(
                reason="location_not_found",
                arguments={"location": "Nowhere"},
                at="GET /geo",
                answer=Answer(200, []),
            ),
            Refused(
                reason="location_not_found",
                arguments={"location": "Nowhere else"},
                at="GET /geo",
                answer=Answer(400, {"cod": "400", "message": "Nothing to geocode"}),
            ),
        ),
    ),
    Case(
        tool="ntfy.send_push_notification",
        arguments={"title": "Gebucht", "message": "Grüße", "priority": "high"},
        result={"id": "hwQ2YpKdmg12", "status": "sent"},
        errors=(
            Refused(
                reason="message_too_large",
                at="POST /",
                answer=travel.ntfy_error(41303, "JSON body too large"),
            ),
        ),
    ),
)


def taken(status: int, code: str) -> Refused:
    answer = golf.error(status, code, f"About {code}")
    return Refused(reason=code, at="POST /v1/reservations", answer=answer)


GOLF = (
    Case(
        tool="golf.search_tee_times",
        arguments=TEE_TIMES,
        result={"total": 1},
        errors=tuple(
            Refused(reason=each.reason, arguments=BOOK_FIRST, at=each.at, answer=each.answer)
            for each in (
                taken(409, "tee_time_unavailable"),
                taken(409, "duplicate_reservation"),
                taken(422, "idempotency_key_reused"),
            )
        ),
    ),
    Case(
        tool="golf.book_tee_time",
        arguments=BOOKING,
        result={"reservation": {"confirmation_code": "ABC123"}},
        errors=(
            Refused(
                reason="tee_time_not_found",
                at="GET /v1/tee-times",
                answer=golf.error(404, "tee_time_not_found", "No such tee time"),
            ),
            Refused(reason="tee_time_mismatch", arguments={**BOOKING, "time": "09:00"}),
            taken(409, "tee_time_unavailable"),
            taken(422, "players_exceed_available"),
            taken(409, "duplicate_reservation"),
            taken(422, "idempotency_key_reused"),
            taken(410, "hold_expired"),
        ),
    ),
    Case(
        tool="golf.get_reservations",
        arguments={"user_id": "user-1"},
        result={"total": 1, "reservations": [{"confirmation_code": "ABC123"}]},
        errors=(
            Refused(
                reason="cursor_refused",
                at="GET /v1/reservations",
                answer=golf.error(400, "invalid_request", "The cursor has expired"),
            ),
        ),
    ),
)

CASES = (*AVINODE, *GMAIL, *SHEETS, *SUPABASE, *TRAVEL, *GOLF)
