"""The behaviour of the Avinode mock: airports, searches, trips, messages, empty legs and watches.

Quotes and responses to messages arrive as mock time passes: each operator responds after a number
of minutes that the seed determines, and the listener of the webhook is notified. After a trip, the
people at the marketplace play their part (`trips`, `booking`). An access token
that contains `broker` belongs to an account that may not search; one that contains `expired` is
rejected. Codes that no airport can have, such as `ZZZZ`, are invalid: searches report them next to
the results, and nothing is created with them. Every other code is accepted, known or not. `rules`
has the other refusals.
"""

from typing import Any, Final

from gateway.connectors.avinode.mock.forms import (
    check_airports,
    check_days,
    check_route,
    check_segments,
    finish,
    flight_facts,
    for_accounts,
    invalid_airports,
    listed,
    meta,
    refuse,
    refused,
    send_webhook,
    stored,
)
from gateway.connectors.avinode.mock.market import airports, charter_options, empty_legs
from gateway.connectors.avinode.mock.rfqs import (
    ask_operators,
    create_rfq,
    read_message,
    read_rfq,
    send_chat,
)
from gateway.contract.connector import mock_behaviours
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.mock import MockReply, MockRequest, MockState

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
