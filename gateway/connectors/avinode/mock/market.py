"""The offers of the Avinode mock: aircraft, prices and days."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from gateway.connectors.avinode.mock.airports import (
    AIRPORTS,
    Airport,
    distance_nm,
    find_airports,
)
from gateway.connectors.avinode.mock.fleet import FLEET, OPERATORS, Aircraft
from gateway.contract.mock import MockRequest

_FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    "Light jet": frozenset({"Light jet", "Super light jet", "Entry level jet (VLJ)"}),
    "Midsize jet": frozenset({"Midsize jet", "Super midsize jet"}),
}
_CLASSES: Final[Mapping[str, frozenset[str]]] = {
    "light-jet": _FAMILIES["Light jet"],
    "mid-jet": _FAMILIES["Midsize jet"],
    "heavy-jet": frozenset({"Heavy jet"}),
    "ultra-long-range-jet": frozenset({"Ultra long range"}),
}
_LANDING_FEE_USD: Final = 1500
_MAX_DAYS: Final = 31
_AMENITIES: Final = (("refreshments", 0), ("wifi", 7), ("lavatory", 8), ("galley", 10), ("bed", 13))
_EMPTY_LEG_CHANCE: Final = 0.3
_ON_REQUEST_CHANCE: Final = 0.2


def seller_company(company: str) -> dict[str, Any]:
    """An operator as in replies."""
    operator = OPERATORS[company]
    return {
        "id": operator.id,
        "displayName": operator.name,
        "rating": operator.rating,
        "safetyRating": operator.safety_rating,
    }


def airports(text: str, country: str | None, is_prefix: bool) -> list[dict[str, Any]]:
    """The airports that match, as in replies."""
    return [_shown_airport(airport) for airport in find_airports(text, country, is_prefix)]


def charter_options(request: MockRequest, segment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The aircraft that can fly the segment and meet the criteria, cheapest first."""
    criteria = request.body.get("criteria", {})
    day = segment["dateTime"]["date"]
    distance = _distance(request, segment)
    options = [
        _option(request, aircraft, day, _price(request, aircraft, distance, day))
        for aircraft in FLEET
        if aircraft.seats >= int(segment["paxCount"])
        and aircraft.range_nm >= distance
        and _meets(aircraft, criteria)
    ]
    cap = criteria.get("maximumPrice")
    options = [each for each in options if cap is None or each["price"]["amount"] <= cap]
    return sorted(options, key=lambda option: (option["price"]["amount"], option["id"]))


def empty_legs(request: MockRequest) -> list[dict[str, Any]]:
    """The empty legs between two airports in a range of dates, cheapest first."""
    body = request.body
    distance, days = _distance(request, body), _days(body["dateRange"])
    legs = [
        leg
        for aircraft in FLEET
        if days and aircraft.seats >= int(body["paxCount"]) and aircraft.range_nm >= distance
        for leg in _empty_leg(request, aircraft, distance, days)
    ]
    cap = body.get("maximumPrice")
    legs = [each for each in legs if cap is None or each["price"]["amount"] <= cap]
    return sorted(legs, key=lambda leg: (leg["price"]["amount"], leg["id"]))


def segment_passengers(request: MockRequest) -> int:
    """The number of passengers on the first segment."""
    return int(request.body["segments"][0]["paxCount"])


def has_seats(company: str, passengers: int) -> bool:
    """Whether an operator has an aircraft with enough seats."""
    return any(each.operator == company and each.seats >= passengers for each in FLEET)


def quoted_aircraft(request: MockRequest, company: str) -> tuple[Aircraft, int]:
    """The aircraft that an operator with `has_seats` offers, and its price before fees."""
    segment = request.body["segments"][0]
    distance = _distance(request, segment)
    passengers = segment_passengers(request)
    fit = [each for each in FLEET if each.operator == company and each.seats >= passengers]
    aircraft = min(fit, key=lambda each: (each.range_nm < distance, each.hourly_usd))
    return aircraft, _price(request, aircraft, distance, segment["dateTime"]["date"])


def flight_minutes(request: MockRequest, aircraft: Aircraft) -> int:
    """From departure to arrival of the first leg, with climb and approach."""
    distance = _distance(request, request.body["segments"][0])
    return max(round(60 * _hours(aircraft, distance)), 1)


def amenities_of(aircraft: Aircraft) -> list[str]:
    """The amenities on board. Larger aircraft have more."""
    return [name for name, seats in _AMENITIES if aircraft.seats >= seats]


def _shown_airport(airport: Airport) -> dict[str, Any]:
    return {
        "id": airport.icao,
        "type": "airports",
        "icao": airport.icao,
        "iata": airport.iata,
        "name": airport.name,
        "city": airport.city,
        "country": {"code": airport.country},
        "coordinates": {"latitude": airport.latitude, "longitude": airport.longitude},
    }


def _distance(request: MockRequest, ends: Mapping[str, Any]) -> float:
    """Nautical miles. For an unknown airport, the distance is made up but always the same."""
    codes = ends["startAirport"]["icao"], ends["endAirport"]["icao"]
    start, end = (AIRPORTS.get(code) for code in codes)
    if start is None or end is None:
        return 200 + 2300 * request.fraction("distance", *sorted(codes))
    return distance_nm(start, end)


def _meets(aircraft: Aircraft, criteria: Mapping[str, Any]) -> bool:
    category = criteria.get("aircraftCategory", aircraft.category)
    family = _FAMILIES.get(category, frozenset({category}))
    types = [text.casefold() for text in criteria.get("aircraftTypes", ())]
    is_wanted = not types or any(
        text == aircraft.type.casefold() or aircraft.category in _CLASSES.get(text, ())
        for text in types
    )
    rating = OPERATORS[aircraft.operator].rating
    return (
        aircraft.category in family
        and is_wanted
        and rating >= criteria.get("minimumSellerRating", 0)
    )


def _hours(aircraft: Aircraft, distance: float) -> float:
    return distance / aircraft.speed_kts + 0.4


def _price(request: MockRequest, aircraft: Aircraft, distance: float, day: str) -> int:
    """US dollars, rounded to fifty. The price varies by up to a tenth from day to day."""
    hours = max(_hours(aircraft, distance), 1.0)
    market = 0.9 + 0.2 * request.fraction("price", aircraft.id, day)
    return 50 * round((hours * aircraft.hourly_usd * market + _LANDING_FEE_USD) / 50)


def _option(request: MockRequest, aircraft: Aircraft, day: str, price: int) -> dict[str, Any]:
    is_asked = request.fraction("free", aircraft.id, day) < _ON_REQUEST_CHANCE
    return {
        **_lift(aircraft),
        "type": "lifts",
        "rangeNauticalMiles": aircraft.range_nm,
        "cruiseSpeedKnots": aircraft.speed_kts,
        "sellerCompany": seller_company(aircraft.operator),
        "availability": "ON_REQUEST" if is_asked else "AVAILABLE",
        "price": {"amount": price, "currency": "USD"},
    }


def _lift(aircraft: Aircraft) -> dict[str, Any]:
    return {
        "id": aircraft.id,
        "aircraftType": {"name": aircraft.type},
        "aircraftCategory": {"name": aircraft.category},
        "maximumPassengers": aircraft.seats,
    }


def _days(period: Mapping[str, str]) -> list[date]:
    """The days of a range, at most `_MAX_DAYS`; empty for a year outside the range of `date`."""
    try:
        first, last = (date.fromisoformat(period[end]) for end in ("from", "to"))
    except ValueError:
        return []
    count = min((last - first).days + 1, _MAX_DAYS)
    return [first + timedelta(days=offset) for offset in range(count)]


def _empty_leg(
    request: MockRequest, aircraft: Aircraft, distance: float, days: list[date]
) -> list[dict[str, Any]]:
    """The first day in the range on which the aircraft flies this leg empty, if there is one.

    A leg that can depart no more is not offered.
    """
    codes = request.body["startAirport"]["icao"], request.body["endAirport"]["icao"]
    for day in days:
        salt = ("empty", aircraft.id, *codes, day.isoformat())
        if request.fraction(*salt) < _EMPTY_LEG_CHANCE:
            chance = request.random(*salt)
            discount, hour = chance.randrange(25, 75, 5), chance.randrange(6, 15)
            latest = f"{day.isoformat()}T{hour + 6:02d}:00:00.000Z"
            if datetime.fromisoformat(latest) <= request.now:
                continue
            usual = _price(request, aircraft, distance, day.isoformat())
            return [
                {
                    "id": f"EL-{aircraft.id}-{day.isoformat()}",
                    "lift": _lift(aircraft),
                    "sellerCompany": seller_company(aircraft.operator),
                    "earliestDeparture": f"{day.isoformat()}T{hour:02d}:00:00.000Z",
                    "latestDeparture": latest,
                    "price": {"amount": round(usual * (100 - discount) / 100), "currency": "USD"},
                    "discountPercent": discount,
                }
            ]
    return []
