"""The hotels of the Amadeus mock, their free rooms and prices."""

import hashlib
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.amadeus.mock.flights import CURRENCIES
from gateway.connectors.amadeus.mock.places import CITIES, City
from gateway.contract.mock import MockRequest

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
        "offers": [_offer(request, hotel, stay)],
    }


def _offer(request: MockRequest, hotel: Hotel, stay: tuple[date, date]) -> dict[str, Any]:
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
        "price": _price(hotel.city.currency, night, (last - first).days * rooms, days),
        "policies": {"paymentType": "guarantee"},
    }


def _price(currency: str, dollars: float, nights: int, days: tuple[str, str]) -> Mapping[str, Any]:
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
