"""Mistakes of callers: they are answered as mistakes, never as failures of the upstream.

An answer of 502 sends an operator to look for a fault that is not there, and makes a client try
again what can never succeed.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.testing.gateways import Faces, open_faces

LEG = {"departure_airport": "KTEB", "arrival_airport": "KVNY", "passengers": 6}
ON = {"departure_date": "2099-12-01"}
AT = {"departure_date": "2099-12-01T15:00:00Z"}
DAYS = {"date_range": {"from": "2099-12-01", "to": "2099-12-20"}}
PAST_DAYS = {"date_range": {"from": "2020-12-01", "to": "2020-12-20"}}
NOWHERE = {"arrival_airport": "ZZZZ"}
ROUND = {"arrival_airport": "KTEB"}
ASKED = {"operator_ids": ["OP-001"]}
KEY = {"idempotency_key": "one-key-of-a-caller"}
NO_MAIL = "18c0f3a2b4d5e499"
STAY = {"city_code": "PAR", "check_in_date": "2020-01-04", "check_out_date": "2020-01-05"}
RATE = {"amount": "1.00", "from": "EUR", "to": "XXX"}

MISTAKES = [
    ("avinode.search_flights", {**LEG, **ON, **NOWHERE}, "airport_not_found"),
    ("avinode.search_flights", {**LEG, **ON, **ROUND}, "same_airport"),
    ("avinode.search_flights", {**LEG, "departure_date": "2020-01-04"}, "departure_in_past"),
    ("avinode.create_trip", {**LEG, **AT, **NOWHERE}, "airport_not_found"),
    ("avinode.create_trip", {**LEG, **AT, **ROUND}, "same_airport"),
    (
        "avinode.create_rfp",
        {"flight_details": {**LEG, **AT, **NOWHERE}, **ASKED},
        "airport_not_found",
    ),
    (
        "avinode.create_rfp",
        {"flight_details": {**LEG, **AT}, **ASKED, "deadline": "2020-01-04T00:00:00Z"},
        "deadline_in_past",
    ),
    (
        "avinode.create_rfp",
        {"flight_details": {**LEG, **AT, "passengers": 19}, **ASKED},
        "insufficient_capacity",
    ),
    (
        "avinode.create_rfp",
        {"flight_details": {**LEG, **AT}, "operator_ids": ["OP-999"]},
        "operator_not_found",
    ),
    ("avinode.search_empty_legs", {**LEG, **DAYS, **NOWHERE}, "airport_not_found"),
    ("avinode.search_empty_legs", {**LEG, **PAST_DAYS}, "dates_in_past"),
    ("avinode.create_watch", {**LEG, **DAYS, **NOWHERE}, "airport_not_found"),
    ("avinode.get_rfp_status", {"rfp_id": "arfq-none"}, "rfp_not_found"),
    ("avinode.get_quotes", {"rfp_id": "amsg-10000001"}, "rfp_not_found"),
    ("avinode.send_message", {"thread_id": "none", "message": "Hello"}, "thread_not_found"),
    ("amadeus.search_flights", {"origin": "JFK", "destination": "QQQ", **ON}, "airport_not_found"),
    (
        "amadeus.search_flights",
        {"origin": "JFK", "destination": "LHR", "departure_date": "2020-01-04"},
        "dates_refused",
    ),
    ("amadeus.search_hotels", STAY, "dates_refused"),
    ("amadeus.get_airport_code", {"city_name": "Nowhere at all"}, "city_not_found"),
    ("frankfurter.convert_currency", RATE, "unknown_currency"),
    ("gmail.get_email", {"message_id": NO_MAIL}, "email_not_found"),
    ("gmail.get_thread_history", {"thread_id": NO_MAIL}, "thread_not_found"),
    ("golf.get_reservations", {"user_id": "user-001", "cursor": "none-of-yours"}, "cursor_refused"),
    (
        "golf.book_tee_time",
        {
            "tee_time_id": "tt-course-001-20250104-0830",
            "date": "2025-01-04",
            "time": "08:30",
            "players": 2,
        },
        "tee_time_unavailable",
    ),
    (
        "golf.book_tee_time",
        {"tee_time_id": "none", "date": "2099-01-04", "time": "08:30", "players": 2},
        "tee_time_not_found",
    ),
    ("weather.get_weather", {"location": "Nowhere at all"}, "location_not_found"),
    ("sheets.get_client", {"identifier": "CL-999"}, "client_not_found"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faces(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Faces]:
    async with open_faces(Path(tmp_path_factory.mktemp("gateway"))) as opened:
        yield opened


@pytest.mark.attack(
    "A caller sends well-formed arguments that name what does not exist or cannot happen.",
    required="The answer is an error that the tool declares, with a status from 400 to 499.",
)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("tool", "arguments", "reason"), MISTAKES)
async def test_a_mistake_of_the_caller_is_no_failure_of_the_upstream(
    faces: Faces, tool: str, arguments: dict[str, object], reason: str
) -> None:
    verdict = await faces.rest(faces.catalogue.find(tool), json.dumps(arguments).encode())
    assert 400 <= verdict.status < 500, verdict.body
    assert verdict.body.get("reason") == reason, verdict.body


@pytest.mark.attack(
    "A caller sends arguments with hundreds of mistakes, to make the answer as long as possible.",
    required="The answer lists the first 20 mistakes.",
)
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("supabase.query", {"table": "quotes", "select": ",".join(f"c{i}" for i in range(90))}),
        (
            "supabase.query",
            {"table": "quotes", "filters": {f"c{i}": 1 for i in range(30)}, "select": "none"},
        ),
        ("avinode.search_flights", {f"no{i}": i for i in range(500)}),
    ],
)
async def test_many_mistakes_make_a_short_answer(
    faces: Faces, tool: str, arguments: dict[str, object]
) -> None:
    verdict = await faces.rest(faces.catalogue.find(tool), json.dumps(arguments).encode())
    assert verdict.status == 422
    assert 1 <= len(verdict.body["errors"]) <= 20
