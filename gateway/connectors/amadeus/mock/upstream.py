"""The behaviour of the Amadeus mock: locations, flight offers and hotels, derived from the seed.

Prices are in the currency of the city of departure or of the hotel. A day is in the past when it
has ended in every time zone. Flights are sold 361 days ahead, hotels 359 days for at most 99
nights: airlines and hotels publish no more. A hotel without a room makes the mock refuse all hotels
of the request and name it, as Amadeus does.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from gateway.connectors.amadeus.mock.offers import (
    Hotel,
    dictionaries,
    has_room,
    hotel_with,
    hotels_in,
    listed,
    offered,
    offers,
)
from gateway.connectors.amadeus.mock.places import CITIES, COUNTRIES, City, CityAirport, city_at
from gateway.connectors.days import first_day, last_day
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import (
    MockRefusal,
    MockRefused,
    MockReply,
    MockRequest,
    MockState,
    TokenRefusal,
)

__all__ = ["BEHAVIOURS", "finish", "refuse", "refuse_token"]

SITE: Final = "https://test.api.amadeus.com"
_MEDIA_TYPE: Final = "application/vnd.amadeus+json"
_BY_STATUS: Final[Mapping[int, tuple[int, str]]] = {
    400: (477, "INVALID FORMAT"),
    401: (38190, "Invalid access token"),
    403: (38197, "Forbidden"),
    404: (38196, "Resource not found"),
    405: (38196, "Resource not found"),
    429: (38194, "Too many requests"),
    500: (38189, "Internal error"),
}

_BY_REASON: Final[Mapping[str, tuple[int | str, str]]] = {
    # Amadeus sends only this code as text.
    "missing_credentials": ("38191", "Invalid HTTP header"),
    "invalid_token": (38190, "Invalid access token"),
    "expired_token": (38192, "Access token expired"),
}


def refuse(refusal: MockRefusal) -> Any:
    """Amadeus' list of errors, with one."""
    status = refusal.status
    if status == 400 and "missing" in refusal.title:
        return errors(400, 32171, "MANDATORY DATA MISSING", refusal.title, refusal.path)
    if refusal.reason in _BY_REASON:
        return errors(status, *_BY_REASON[refusal.reason], refusal.title)
    code, title = _BY_STATUS.get(status, (141, "SYSTEM ERROR HAS OCCURRED"))
    return errors(status, code, title, refusal.title, refusal.path)


def refuse_token(refusal: TokenRefusal) -> Any:
    """The error of the token endpoint: it has another form and always the same code."""
    return {
        "error": refusal.error,
        "error_description": refusal.description,
        "code": 38187,
        "title": "Invalid parameters",
    }


def refused(code: int, title: str, detail: str, parameter: str = "") -> MockRefused:
    """A refusal by a behaviour, with status 400."""
    return MockRefused(MockReply(status=400, body=errors(400, code, title, detail, parameter)))


def errors(status: int, code: int | str, title: str, detail: str, parameter: str = "") -> Any:
    """The error body."""
    error: dict[str, Any] = {"status": status, "code": code, "title": title, "detail": detail}
    if parameter:
        error["source"] = {"parameter": parameter}
    return {"errors": [error]}


def finish(reply: MockReply) -> MockReply:
    """Set the media type: Amadeus' own for data, plain JSON for tokens, also for their errors."""
    is_token = isinstance(reply.body, dict) and not reply.body.keys().isdisjoint(
        {"access_token", "error"}
    )
    if is_token or reply.body is None:
        return reply
    headers = {"content-type": _MEDIA_TYPE, **reply.headers}
    return MockReply(status=reply.status, headers=headers, body=reply.body)


def meta(request: MockRequest, path: str, count: int) -> dict[str, Any]:
    """The part of a list beside `data`."""
    return {"count": count, "links": {"self": _address(path, request.query)}}


def page(request: MockRequest, path: str, count: int, offset: int, limit: int) -> dict[str, Any]:
    """The same for a list that comes in pages."""
    metadata = meta(request, path, count)
    last = max(count - 1, 0) // limit * limit
    metadata["links"]["last"] = _address(path, {**request.query, "page[offset]": last})
    if offset + limit < count:
        following = {**request.query, "page[offset]": offset + limit}
        metadata["links"]["next"] = _address(path, following)
    return metadata


def _address(path: str, query: Mapping[str, Any]) -> str:
    texts = {
        name: ",".join(value) if isinstance(value, list) else value for name, value in query.items()
    }
    return f"{SITE}{path}?{urlencode(texts)}"


def locations(query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The matches of the query, busiest first."""
    wanted = " ".join(query["keyword"].upper().split())
    country = query.get("countryCode")
    is_full = query.get("view", "FULL") == "FULL"
    return [
        row if is_full else _light(row)
        for city in sorted(CITIES.values(), key=lambda city: -city.score)
        if country in (None, city.country)
        for row in _rows(city, wanted, query["subType"])
    ]


def _rows(city: City, wanted: str, kinds: list[str]) -> list[dict[str, Any]]:
    rows = []
    if "CITY" in kinds and _fits(wanted, city.name, city.code):
        rows.append(_row("CITY", city, city.airports[0], city.code, city.name))
    if "AIRPORT" in kinds:
        rows += [
            _row("AIRPORT", city, airport, airport.code, airport.name, rank)
            for rank, airport in enumerate(city.airports)
            if _fits(wanted, city.name, airport.name, airport.code)
        ]
    return rows


def _fits(wanted: str, *texts: str) -> bool:
    """Whether a text, from the start of one of its words on, begins with `wanted`."""
    return any(f" {wanted}" in f" {text}" for text in texts)


def _row(
    kind: str, city: City, airport: CityAirport, code: str, name: str, rank: int = 0
) -> dict[str, Any]:
    country, region = COUNTRIES[city.country]
    identity = f"{kind[0]}{code}"
    sign, hours = "-" if city.hours < 0 else "+", abs(city.hours)
    return {
        "type": "location",
        "subType": kind,
        "name": name,
        "detailedName": f"{city.name}/{city.country}:{name}",
        "id": identity,
        "self": {"href": f"{SITE}/v1/reference-data/locations/{identity}", "methods": ["GET"]},
        "timeZoneOffset": f"{sign}{int(hours):02d}:{int(hours % 1 * 60):02d}",
        "iataCode": code,
        "geoCode": {"latitude": airport.latitude, "longitude": airport.longitude},
        "address": {
            "cityName": city.name,
            "cityCode": city.code,
            "countryName": country,
            "countryCode": city.country,
            "regionCode": region,
        },
        "analytics": {"travelers": {"score": max(city.score - 20 * rank, 1)}},
    }


def _light(row: dict[str, Any]) -> dict[str, Any]:
    """The members that `view=LIGHT` returns."""
    address = {name: row["address"][name] for name in ("cityName", "countryName")}
    kept = {name: row[name] for name in ("type", "subType", "name", "detailedName", "iataCode")}
    return {**kept, "id": row["id"], "self": row["self"], "address": address}


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
    _check_places(request.query)
    _check_flight_dates(request)
    found = offers(request)
    body = {"meta": meta(request, _FLIGHTS, len(found)), "data": found}
    return MockReply(body={**body, "dictionaries": dictionaries(found)} if found else body)


def list_hotels_in_city(request: MockRequest, _state: MockState) -> MockReply:
    city = city_at(request.query["cityCode"])
    if city is None:
        detail = "Nothing found for the city code"
        raise refused(895, "NOTHING FOUND FOR REQUESTED CITY", detail, "cityCode")
    found = [listed(hotel) for hotel in hotels_in(city)]
    return MockReply(body={"data": found, "meta": meta(request, _HOTELS, len(found))})


def search_hotel_offers(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query
    first = date.fromisoformat(query.get("checkInDate", request.now.date().isoformat()))
    wrong = _far_or_past(first.isoformat(), request.now, _HOTEL_DAYS)
    if wrong is not None:
        raise refused(381, "INVALID CHECK-IN DATE", f"Date is {wrong}", "checkInDate")
    given = query.get("checkOutDate")
    last = first + timedelta(days=1) if given is None else date.fromisoformat(given)
    if last <= first:
        title = "CHECK_OUT DATE MUST BE FURTHER IN THE FUTURE THAN CHECK-IN DATE"
        raise refused(404, title, "Check-out is not after check-in", "checkOutDate")
    if (last - first).days > _MOST_NIGHTS:
        detail = f"Stay is longer than {_MOST_NIGHTS} nights"
        raise refused(382, "INVALID CHECK-OUT DATE", detail, "checkOutDate")
    hotels = {hotel_id: hotel_with(hotel_id) for hotel_id in query["hotelIds"]}
    _check_rooms(request, hotels, (first, last))
    data = [offered(request, each, (first, last)) for each in hotels.values() if each]
    return MockReply(body={"data": data})


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "searchLocations": search_locations,
        "searchFlightOffers": search_flight_offers,
        "listHotelsInCity": list_hotels_in_city,
        "searchHotelOffers": search_hotel_offers,
    },
)


def _check_places(query: Mapping[str, Any]) -> None:
    for parameter in ("originLocationCode", "destinationLocationCode"):
        if city_at(query[parameter]) is None:
            raise refused(4926, "INVALID DATA RECEIVED", "Unknown location", parameter)
    if query["originLocationCode"] == query["destinationLocationCode"]:
        title = "PARAMETER COMBINATION INVALID/RESTRICTED"
        raise refused(2668, title, "Origin and destination must differ")


def _check_flight_dates(request: MockRequest) -> None:
    query = request.query
    for parameter in ("departureDate", "returnDate"):
        wrong = _far_or_past(
            query.get(parameter, query["departureDate"]), request.now, _FLIGHT_DAYS
        )
        if wrong is not None:
            raise refused(425, "INVALID DATE", f"Date/Time is {wrong}", parameter)
    if query.get("returnDate", query["departureDate"]) < query["departureDate"]:
        raise refused(425, "INVALID DATE", "Return is before departure", "returnDate")


def _far_or_past(day: str, now: datetime, days: int) -> str | None:
    """Why a day is out of range, or None. Days are YYYY-MM-DD, which sorts as text."""
    if day < first_day(now):
        return "in the past"
    return "too far in the future" if day > last_day(now, days) else None


def _check_rooms(
    request: MockRequest, hotels: Mapping[str, Hotel | None], stay: tuple[date, date]
) -> None:
    """Raise `MockRefused` for hotels that are unknown or have no room."""
    unknown = [hotel_id for hotel_id, hotel in hotels.items() if hotel is None]
    if unknown:
        named = f"hotelIds={','.join(unknown)}"
        raise refused(3237, "PROPERTY CODE NOT FOUND IN SYSTEM", "Provider Error", named)
    full = [each.id for each in hotels.values() if each and not has_room(request, each, stay)]
    if full:
        named = f"hotelIds={','.join(full)}"
        raise refused(3664, "NO ROOMS AVAILABLE AT REQUESTED PROPERTY", "Provider Error", named)
