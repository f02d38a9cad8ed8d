"""Field functions of the connector `amadeus`: the airport of a city."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.connectors.places import without_accents
from gateway.contract.connector import mapping_function
from gateway.contract.fields.fieldmap import Unmappable
from gateway.errors import ToolFailed

Location = Mapping[str, Any]
"""An airport or a city, as Amadeus describes it."""

_NOT_SUPPORTED: Final = re.compile(r"[^A-Za-z0-9./:()'\" -]+")
_CODE: Final = re.compile(r"[A-Z]{3}")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
_MAX_NAME: Final = 200


@mapping_function
def keyword(city_name: str) -> str:
    """`city_name` in the characters that Amadeus accepts in a search.

    Raises `Unmappable` if no letter or digit is left.
    """
    folded = _folded(city_name)
    if not any(map(str.isalnum, folded)):
        raise Unmappable("/city_name", "has no letter of the Latin alphabet, and Amadeus needs one")
    return folded


@mapping_function
def best_code(locations: Sequence[Location], city_name: str) -> str:
    """IATA code of the best match. Raises `ToolFailed` with `city_not_found`."""
    return str(_best(locations, city_name)["iataCode"])


@mapping_function
def best_name(locations: Sequence[Location], city_name: str) -> str:
    """Name of the best match. Raises `ToolFailed` with `city_not_found`."""
    return _name(_best(locations, city_name))


@mapping_function
def best_kind(locations: Sequence[Location], city_name: str) -> str:
    """`airport` or `city`. Raises `ToolFailed` with `city_not_found`."""
    return "airport" if _is_airport(_best(locations, city_name)) else "city"


@mapping_function
def best_city_code(locations: Sequence[Location], city_name: str) -> str | None:
    """IATA code of the best match's city. Raises `ToolFailed` with `city_not_found`."""
    return _part(_best(locations, city_name), "cityCode", _CODE)


@mapping_function
def best_city_name(locations: Sequence[Location], city_name: str) -> str | None:
    """Name of the best match's city. Raises `ToolFailed` with `city_not_found`."""
    return _city_name(_best(locations, city_name))


@mapping_function
def best_country_code(locations: Sequence[Location], city_name: str) -> str | None:
    """Country of the best match. Raises `ToolFailed` with `city_not_found`."""
    return _part(_best(locations, city_name), "countryCode", _COUNTRY)


@mapping_function
def alternatives(locations: Sequence[Location], city_name: str) -> list[dict[str, Any]]:
    """The airports besides the best match. Raises `ToolFailed` with `city_not_found`."""
    best = _best(locations, city_name)
    others = [each for each in locations if _is_airport(each) and each is not best]
    return [
        {
            "code": each["iataCode"],
            "name": _name(each),
            "city_name": _city_name(each),
            "country_code": _part(each, "countryCode", _COUNTRY),
        }
        for each in others[:20]
    ]


def _best(locations: Sequence[Location], city_name: str) -> Location:
    """The busiest airport of a city with exactly this name, otherwise the busiest match.

    Amadeus lists the busiest first. If there is no airport, the result is a city.
    """
    found = [each for each in locations if _is_airport(each)]
    found = found or [each for each in locations if each["subType"] == "CITY"]
    if not found:
        raise ToolFailed("city_not_found")
    wanted = _folded(city_name).upper()
    return next((each for each in found if _folded(_city_name(each) or "") == wanted), found[0])


def _folded(text: str) -> str:
    """`text` without accents, in the supported characters, with single spaces."""
    return " ".join(_NOT_SUPPORTED.sub(" ", without_accents(text)).split())


def _is_airport(location: Location) -> bool:
    return bool(location["subType"] == "AIRPORT")


def _name(location: Location) -> str:
    return str(location["name"])[:_MAX_NAME]


def _city_name(location: Location) -> str | None:
    name = location.get("address", {}).get("cityName")
    return None if name is None else str(name)[:_MAX_NAME]


def _part(location: Location, name: str, pattern: re.Pattern[str]) -> str | None:
    """A code of the address, if it matches `pattern`."""
    code = location.get("address", {}).get(name)
    return code if isinstance(code, str) and pattern.fullmatch(code) else None
