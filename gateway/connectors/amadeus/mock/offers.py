"""The offers of the Amadeus mock: airlines with routes and times, hotels with rooms, and prices."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.amadeus.mock.places import (
    AIRPORTS,
    CITIES,
    CITY_OF,
    City,
    CityAirport,
    airports_at,
    city_at,
    distance_km,
)
from gateway.contract.mock import MockRequest


class Currency(Struct, frozen=True):
    """A currency, and the approximate value of a US dollar in it, for made-up prices."""

    name: str
    per_dollar: float
    decimals: int = 2


CURRENCIES: Final[Mapping[str, Currency]] = {
    "AED": Currency("UAE DIRHAM", 3.6725),
    "AUD": Currency("AUSTRALIAN DOLLAR", 1.43),
    "BRL": Currency("BRAZILIAN REAL", 4.97),
    "CAD": Currency("CANADIAN DOLLAR", 1.42),
    "CHF": Currency("SWISS FRANC", 0.83),
    "CNY": Currency("CHINESE YUAN RENMINBI", 6.7),
    "CZK": Currency("CZECH KORUNA", 21.7),
    "DKK": Currency("DANISH KRONE", 6.63),
    "EUR": Currency("EURO", 0.887),
    "GBP": Currency("POUND STERLING", 0.753),
    "HKD": Currency("HONG KONG DOLLAR", 7.85),
    "INR": Currency("INDIAN RUPEE", 96.4),
    "JPY": Currency("JAPANESE YEN", 158.0, decimals=0),
    "KES": Currency("KENYAN SHILLING", 129.0),
    "KRW": Currency("SOUTH KOREAN WON", 1339.0, decimals=0),
    "MXN": Currency("MEXICAN PESO", 17.9),
    "NOK": Currency("NORWEGIAN KRONE", 9.56),
    "PLN": Currency("POLISH ZLOTY", 3.87),
    "QAR": Currency("QATARI RIAL", 3.64),
    "SEK": Currency("SWEDISH KRONA", 9.98),
    "SGD": Currency("SINGAPORE DOLLAR", 1.28),
    "THB": Currency("THAI BAHT", 33.6),
    "TRY": Currency("TURKISH LIRA", 49.2),
    "USD": Currency("US DOLLAR", 1.0),
    "ZAR": Currency("SOUTH AFRICAN RAND", 16.5),
}
_LONGEST_KM: Final = 14_500.0
"""Longer flights have a fuel stop."""
_SHORTEST_KM: Final = 150.0
_MOST_DETOUR: Final = 1.6
_CRUISE_KM_PER_MINUTE: Final = 14.0
_TAXI_MINUTES: Final = 35
_CHANGE_MINUTES: Final = 95


class Airline(Struct, frozen=True):
    """An airline and its hub, where all its flights begin or end."""

    code: str
    name: str
    hub: str


class Leg(Struct, frozen=True):
    """A flight between two airports, in local times."""

    start: CityAirport
    end: CityAirport
    departs: datetime
    arrives: datetime
    minutes: int
    stops: int


AIRLINES: Final = (
    Airline("AA", "AMERICAN AIRLINES", "MIA"),
    Airline("AC", "AIR CANADA", "YYZ"),
    Airline("AF", "AIR FRANCE", "CDG"),
    Airline("AI", "AIR INDIA", "DEL"),
    Airline("BA", "BRITISH AIRWAYS", "LHR"),
    Airline("CX", "CATHAY PACIFIC", "HKG"),
    Airline("DL", "DELTA AIR LINES", "JFK"),
    Airline("EI", "AER LINGUS", "DUB"),
    Airline("EK", "EMIRATES", "DXB"),
    Airline("JL", "JAPAN AIRLINES", "HND"),
    Airline("KE", "KOREAN AIR", "ICN"),
    Airline("KL", "KLM ROYAL DUTCH AIRLINES", "AMS"),
    Airline("KQ", "KENYA AIRWAYS", "NBO"),
    Airline("LA", "LATAM AIRLINES GROUP", "GRU"),
    Airline("LH", "LUFTHANSA", "FRA"),
    Airline("LX", "SWISS INTERNATIONAL AIR LINES", "ZRH"),
    Airline("QF", "QANTAS AIRWAYS", "SYD"),
    Airline("QR", "QATAR AIRWAYS", "DOH"),
    Airline("SK", "SCANDINAVIAN AIRLINES", "CPH"),
    Airline("SQ", "SINGAPORE AIRLINES", "SIN"),
    Airline("TK", "TURKISH AIRLINES", "IST"),
    Airline("UA", "UNITED AIRLINES", "SFO"),
)
AIRCRAFT: Final[Mapping[str, str]] = {
    "320": "AIRBUS A320",
    "359": "AIRBUS A350-900",
    "77W": "BOEING 777-300ER",
}


def offers(request: MockRequest) -> list[dict[str, Any]]:
    """The offers for a search between known airports, cheapest first."""
    query = request.query
    origin, destination = query["originLocationCode"], query["destinationLocationCode"]
    found = []
    for airline in AIRLINES:
        there = _legs(request, airline, origin, destination, query["departureDate"])
        back: list[Leg] | None = []
        if there and "returnDate" in query:
            back = _legs(request, airline, destination, origin, query["returnDate"])
        if there and back is not None and not (query.get("nonStop") and _stops(there, back)):
            found.append((_dollars(request, airline, there + back), airline, there, back))
    found.sort(key=lambda one: one[0])
    shown = found[: query.get("max", 250)]
    return [_offer(request, str(number), *one) for number, one in enumerate(shown, 1)]


def dictionaries(shown: list[dict[str, Any]]) -> dict[str, Any]:
    """The names of the codes in the offers."""
    segments = [each for offer in shown for way in offer["itineraries"] for each in way["segments"]]
    places = {each[end]["iataCode"] for each in segments for end in ("departure", "arrival")}
    carriers = {each["carrierCode"] for each in segments}
    currencies = {offer["price"]["currency"] for offer in shown}
    return {
        "locations": {
            code: {"cityCode": CITY_OF[code].code, "countryCode": CITY_OF[code].country}
            for code in sorted(places)
        },
        "aircraft": {
            code: AIRCRAFT[code] for code in {each["aircraft"]["code"] for each in segments}
        },
        "currencies": {code: CURRENCIES[code].name for code in sorted(currencies)},
        "carriers": {each.code: each.name for each in AIRLINES if each.code in carriers},
    }


def _legs(
    request: MockRequest, airline: Airline, origin: str, destination: str, day: str
) -> list[Leg] | None:
    """The airline's legs between the two airports on that day; None if it has no route."""
    starts, ends = airports_at(origin), airports_at(destination)
    hub = AIRPORTS[airline.hub]
    start = hub if hub in starts else starts[0]
    end = hub if hub in ends else ends[0]
    direct = distance_km(start, end)
    if direct < _SHORTEST_KM:
        return None
    hour = 6 + int(request.fraction("hour", airline.code, origin, destination, day) * 16)
    departs = datetime.fromisoformat(day) + timedelta(hours=hour, minutes=5 * (hour % 12))
    if hub in (start, end):
        return [_leg(start, end, departs)]
    if distance_km(start, hub) + distance_km(hub, end) > _MOST_DETOUR * direct:
        return None
    first = _leg(start, hub, departs)
    return [first, _leg(hub, end, first.arrives + timedelta(minutes=_CHANGE_MINUTES))]


def _leg(start: CityAirport, end: CityAirport, departs: datetime) -> Leg:
    distance = distance_km(start, end)
    stops = int(distance // _LONGEST_KM)
    minutes = _TAXI_MINUTES * (1 + 2 * stops) + round(distance / _CRUISE_KM_PER_MINUTE)
    ahead = timedelta(hours=CITY_OF[end.code].hours - CITY_OF[start.code].hours)
    return Leg(start, end, departs, departs + timedelta(minutes=minutes) + ahead, minutes, stops)


def _stops(*ways: list[Leg]) -> bool:
    return any(len(legs) > 1 or any(leg.stops for leg in legs) for legs in ways)


def _dollars(request: MockRequest, airline: Airline, legs: list[Leg]) -> float:
    """The price for one adult in US dollars: by distance, plus or minus a third."""
    flown = sum(distance_km(leg.start, leg.end) for leg in legs)
    chance = request.fraction("fare", airline.code, *(leg.departs.isoformat() for leg in legs))
    return (45 + 0.075 * flown) * (0.7 + 0.6 * chance)


def _offer(
    request: MockRequest,
    number: str,
    dollars: float,
    airline: Airline,
    there: list[Leg],
    back: list[Leg],
) -> dict[str, Any]:
    adults = request.query["adults"]
    currency = _currency(request.query["originLocationCode"])
    total = _price(currency, dollars, adults)
    names = (str(each) for each in range(1, 5))
    ways = [_itinerary(airline, legs, names) for legs in (there, back) if legs]
    return {
        "type": "flight-offer",
        "id": number,
        "source": "GDS",
        "instantTicketingRequired": False,
        "nonHomogeneous": False,
        "oneWay": False,
        "lastTicketingDate": request.query["departureDate"],
        "numberOfBookableSeats": 9,
        "itineraries": ways,
        "price": {
            **total,
            "fees": [{"amount": "0.00", "type": "SUPPLIER"}],
            "grandTotal": total["total"],
        },
        "pricingOptions": {"fareType": ["PUBLISHED"], "includedCheckedBagsOnly": True},
        "validatingAirlineCodes": [airline.code],
        "travelerPricings": _travellers(ways, _price(currency, dollars), adults),
    }


def _travellers(
    ways: list[dict[str, Any]], price: dict[str, str], adults: int
) -> list[dict[str, Any]]:
    segments = [segment["id"] for way in ways for segment in way["segments"]]
    return [
        {
            "travelerId": str(traveller),
            "fareOption": "STANDARD",
            "travelerType": "ADULT",
            "price": price,
            "fareDetailsBySegment": [
                {"segmentId": segment, "cabin": "ECONOMY"} for segment in segments
            ],
        }
        for traveller in range(1, adults + 1)
    ]


def _currency(code: str) -> str:
    """The currency of a city; the euro if the city is unknown."""
    city = city_at(code)
    return "EUR" if city is None else city.currency


def _price(currency: str, dollars: float, adults: int = 1) -> dict[str, str]:
    facts = CURRENCIES[currency]
    decimals = facts.decimals
    one = round(dollars * facts.per_dollar, decimals)
    return {
        "currency": currency,
        "total": f"{one * adults:.{decimals}f}",
        "base": f"{one * adults * 0.8:.{decimals}f}",
    }


def _itinerary(airline: Airline, legs: list[Leg], names: Iterator[str]) -> dict[str, Any]:
    changes = _CHANGE_MINUTES * (len(legs) - 1)
    return {
        "duration": _duration(sum(leg.minutes for leg in legs) + changes),
        "segments": [_segment(airline, leg, next(names)) for leg in legs],
    }


def _segment(airline: Airline, leg: Leg, name: str) -> dict[str, Any]:
    is_long = leg.minutes > 300
    return {
        "departure": {"iataCode": leg.start.code, "at": leg.departs.isoformat()},
        "arrival": {"iataCode": leg.end.code, "at": leg.arrives.isoformat()},
        "carrierCode": airline.code,
        "number": str(100 + leg.minutes % 900),
        "aircraft": {"code": ("77W" if leg.stops else "359") if is_long else "320"},
        "operating": {"carrierCode": airline.code},
        "duration": _duration(leg.minutes),
        "id": name,
        "numberOfStops": leg.stops,
        "blacklistedInEU": False,
    }


def _duration(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"PT{hours}H{rest}M" if rest else f"PT{hours}H"


_SOLD_OUT: Final = 0.15
"""The share of hotels without a room on any date."""
_TAX: Final = 0.12


class Chain(Struct, frozen=True):
    """A chain of hotels, and its price per night in US dollars."""

    code: str
    brand: str
    night: float


_CHAINS: Final = (
    Chain("HI", "HOLIDAY INN", 130),
    Chain("HL", "HILTON", 210),
    Chain("MC", "MARRIOTT", 230),
    Chain("BW", "BEST WESTERN", 110),
    Chain("RT", "NOVOTEL", 150),
    Chain("YX", "IBIS", 80),
    Chain("SI", "SHERATON", 220),
    Chain("RC", "RITZ CARLTON", 560),
)
_PARTS: Final = ("CENTRE", "STATION", "RIVERSIDE", "OLD TOWN", "PARK", "AIRPORT", "FAIR")


class Hotel(Struct, frozen=True):
    """A hotel. Its number is its rank in the city by distance from the centre."""

    city: City
    number: int

    @property
    def chain(self) -> Chain:
        return _CHAINS[(self.number * 5 + len(self.city.name)) % len(_CHAINS)]

    @property
    def id(self) -> str:
        """Chain, city and number: eight characters, as in Amadeus."""
        return f"{self.chain.code}{self.city.code}{self.number:03d}"

    @property
    def name(self) -> str:
        part = _PARTS[self.number % len(_PARTS)]
        return f"{self.chain.brand} {self.city.name} {part}"


def hotels_in(city: City) -> list[Hotel]:
    """The hotels of a city, nearest to its centre first."""
    return [Hotel(city, number) for number in range(1, 11 + city.score // 3)]


def hotel_with(hotel_id: str) -> Hotel | None:
    """The hotel with this id, if there is one."""
    city, number = CITIES.get(hotel_id[2:5]), hotel_id[5:]
    if city is None or not number.isdigit() or int(number) > len(hotels_in(city)):
        return None
    hotel = Hotel(city, int(number))
    return hotel if hotel.id == hotel_id else None


def listed(hotel: Hotel) -> dict[str, Any]:
    """A hotel as an entry in the list of a city."""
    latitude, longitude = _position(hotel)
    return {
        "chainCode": hotel.chain.code,
        "iataCode": hotel.city.code,
        "dupeId": 700_000_000 + _digest(hotel.id) % 1_000_000,
        "name": hotel.name,
        "hotelId": hotel.id,
        "geoCode": {"latitude": latitude, "longitude": longitude},
        "address": {"countryCode": hotel.city.country},
        "distance": {"value": _distance(hotel), "unit": "KM"},
    }


def has_room(request: MockRequest, hotel: Hotel, stay: tuple[date, date]) -> bool:
    """Whether the hotel has a room for these nights."""
    first, last = stay
    chance = request.fraction("room", hotel.id, first.isoformat(), last.isoformat())
    return chance >= _SOLD_OUT


def offered(request: MockRequest, hotel: Hotel, stay: tuple[date, date]) -> dict[str, Any]:
    """A hotel with its cheapest offer."""
    latitude, longitude = _position(hotel)
    return {
        "type": "hotel-offers",
        "hotel": {
            "type": "hotel",
            "hotelId": hotel.id,
            "chainCode": hotel.chain.code,
            "dupeId": str(listed(hotel)["dupeId"]),
            "name": hotel.name,
            "cityCode": hotel.city.code,
            "latitude": latitude,
            "longitude": longitude,
        },
        "available": True,
        "offers": [_room(request, hotel, stay)],
    }


def _room(request: MockRequest, hotel: Hotel, stay: tuple[date, date]) -> dict[str, Any]:
    first, last = stay
    adults = request.query.get("adults", 1)
    rooms = request.query.get("roomQuantity", 1)
    days = (first.isoformat(), last.isoformat())
    chance = request.fraction("rate", hotel.id, *days)
    night = hotel.chain.night * (0.8 + 0.5 * chance) * (1 + 0.2 * (adults - 1))
    code = hashlib.sha256(f"{hotel.id}{days}{adults}".encode()).hexdigest()[:10].upper()
    return {
        "id": code,
        "checkInDate": days[0],
        "checkOutDate": days[1],
        "rateCode": "RAC",
        "room": {
            "type": "A1K",
            "typeEstimated": {"category": "STANDARD_ROOM", "beds": 1, "bedType": "KING"},
            "description": {"text": "Standard room, one king size bed", "lang": "EN"},
        },
        "guests": {"adults": adults},
        "price": _room_price(hotel.city.currency, night, (last - first).days * rooms, days),
        "policies": {"paymentType": "guarantee"},
    }


def _room_price(
    currency: str, dollars: float, nights: int, days: tuple[str, str]
) -> Mapping[str, Any]:
    """For the whole stay, with taxes."""
    facts = CURRENCIES[currency]
    decimals = facts.decimals
    night = round(dollars * facts.per_dollar, decimals)
    base = f"{night * nights:.{decimals}f}"
    total = f"{night * nights * (1 + _TAX):.{decimals}f}"
    return {
        "currency": currency,
        "base": base,
        "total": total,
        "variations": {
            "average": {"base": f"{night:.{decimals}f}"},
            "changes": [{"startDate": days[0], "endDate": days[1], "total": total}],
        },
    }


def _distance(hotel: Hotel) -> float:
    """Kilometres from the centre."""
    return round(0.2 + hotel.number * 0.11, 2)


def _position(hotel: Hotel) -> tuple[float, float]:
    centre = hotel.city.airports[0]
    return round(centre.latitude + hotel.number / 1000, 5), round(centre.longitude, 5)


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
