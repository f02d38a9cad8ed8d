"""The search for airports and cities of the Amadeus mock."""

from collections.abc import Mapping
from typing import Any

from gateway.connectors.amadeus.mock.envelope import SITE
from gateway.connectors.amadeus.mock.places import CITIES, COUNTRIES, City, CityAirport


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
