"""The behaviour of the Amadeus mock: locations, flight offers and hotels, derived from the seed.

Prices are in the currency of the city of departure or of the hotel. A day is in the past when it
has ended in every time zone. Flights are sold 361 days ahead, hotels 359 days for at most 99
nights: airlines and hotels publish no more. A hotel without a room makes the mock refuse all hotels
of the request and name it, as Amadeus does.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from gateway.connectors.amadeus.mock.envelope import (
    finish,
    meta,
    page,
    refuse,
    refuse_token,
    refused,
)
from gateway.connectors.amadeus.mock.flights import dictionaries, offers
from gateway.connectors.amadeus.mock.hotels import (
    Hotel,
    has_room,
    hotel_with,
    hotels_in,
    listed,
    offered,
)
from gateway.connectors.amadeus.mock.locations import locations
from gateway.connectors.amadeus.mock.places import city_at
from gateway.connectors.days import first_day, last_day
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse", "refuse_token"]

_FLIGHT_DAYS: Final = 361
_HOTEL_DAYS: Final = 359
_MOST_NIGHTS: Final = 99
_FLIGHTS: Final = "/v2/shopping/flight-offers"
_HOTELS: Final = "/v1/reference-data/locations/hotels/by-city"
_LOCATIONS: Final = "/v1/reference-data/locations"


def search_locations(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query
    found = locations(query)
    offset, limit = query.get("page[offset]", 0), query.get("page[limit]", 10)
    metadata = page(request, _LOCATIONS, len(found), offset, limit)
    return MockReply(body={"meta": metadata, "data": found[offset : offset + limit]})


def search_flight_offers(request: MockRequest, _state: MockState) -> MockReply:
    wrong = _wrong_places(request.query) or _wrong_flight_dates(request)
    if wrong is not None:
        return wrong
    found = offers(request)
    body = {"meta": meta(request, _FLIGHTS, len(found)), "data": found}
    return MockReply(body={**body, "dictionaries": dictionaries(found)} if found else body)


def list_hotels_in_city(request: MockRequest, _state: MockState) -> MockReply:
    city = city_at(request.query["cityCode"])
    if city is None:
        detail = "Nothing found for the city code"
        return refused(895, "NOTHING FOUND FOR REQUESTED CITY", detail, "cityCode")
    found = [listed(hotel) for hotel in hotels_in(city)]
    return MockReply(body={"data": found, "meta": meta(request, _HOTELS, len(found))})


def search_hotel_offers(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query
    first = date.fromisoformat(query.get("checkInDate", request.now.date().isoformat()))
    wrong = _far_or_past(first.isoformat(), request.now, _HOTEL_DAYS)
    if wrong is not None:
        return refused(381, "INVALID CHECK-IN DATE", f"Date is {wrong}", "checkInDate")
    given = query.get("checkOutDate")
    last = first + timedelta(days=1) if given is None else date.fromisoformat(given)
    if last <= first:
        title = "CHECK_OUT DATE MUST BE FURTHER IN THE FUTURE THAN CHECK-IN DATE"
        return refused(404, title, "Check-out is not after check-in", "checkOutDate")
    if (last - first).days > _MOST_NIGHTS:
        detail = f"Stay is longer than {_MOST_NIGHTS} nights"
        return refused(382, "INVALID CHECK-OUT DATE", detail, "checkOutDate")
    hotels = {hotel_id: hotel_with(hotel_id) for hotel_id in query["hotelIds"]}
    return _unsold(request, hotels, (first, last)) or MockReply(
        body={"data": [offered(request, each, (first, last)) for each in hotels.values() if each]}
    )


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "searchLocations": search_locations,
        "searchFlightOffers": search_flight_offers,
        "listHotelsInCity": list_hotels_in_city,
        "searchHotelOffers": search_hotel_offers,
    },
)


def _wrong_places(query: Mapping[str, Any]) -> MockReply | None:
    for parameter in ("originLocationCode", "destinationLocationCode"):
        if city_at(query[parameter]) is None:
            return refused(4926, "INVALID DATA RECEIVED", "Unknown location", parameter)
    if query["originLocationCode"] == query["destinationLocationCode"]:
        title = "PARAMETER COMBINATION INVALID/RESTRICTED"
        return refused(2668, title, "Origin and destination must differ")
    return None


def _wrong_flight_dates(request: MockRequest) -> MockReply | None:
    query = request.query
    for parameter in ("departureDate", "returnDate"):
        wrong = _far_or_past(
            query.get(parameter, query["departureDate"]), request.now, _FLIGHT_DAYS
        )
        if wrong is not None:
            return refused(425, "INVALID DATE", f"Date/Time is {wrong}", parameter)
    if query.get("returnDate", query["departureDate"]) < query["departureDate"]:
        return refused(425, "INVALID DATE", "Return is before departure", "returnDate")
    return None


def _far_or_past(day: str, now: datetime, days: int) -> str | None:
    """Why a day is out of range, or None. Days are YYYY-MM-DD, which sorts as text."""
    if day < first_day(now):
        return "in the past"
    return "too far in the future" if day > last_day(now, days) else None


def _unsold(
    request: MockRequest, hotels: Mapping[str, Hotel | None], stay: tuple[date, date]
) -> MockReply | None:
    """The refusal for hotels that are unknown or have no room; None if all have a room."""
    unknown = [hotel_id for hotel_id, hotel in hotels.items() if hotel is None]
    if unknown:
        named = f"hotelIds={','.join(unknown)}"
        return refused(3237, "PROPERTY CODE NOT FOUND IN SYSTEM", "Provider Error", named)
    full = [each.id for each in hotels.values() if each and not has_room(request, each, stay)]
    if full:
        named = f"hotelIds={','.join(full)}"
        return refused(3664, "NO ROOMS AVAILABLE AT REQUESTED PROPERTY", "Provider Error", named)
    return None
