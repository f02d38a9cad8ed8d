"""The places of the weather mock: real cities, positions to about a kilometre."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from gateway.handlers.folding import without_accents

_NEAR: Final = 0.35
"""Degrees around a city in which coordinates are said to be there."""


class City(Struct, frozen=True):
    """A city; coordinates in degrees, north and east positive."""

    name: str
    state: str | None
    country: str
    latitude: float
    longitude: float


CITIES: Final = (
    City("New York", "New York", "US", 40.7127, -74.0060),
    City("Los Angeles", "California", "US", 34.0537, -118.2428),
    City("Chicago", "Illinois", "US", 41.8756, -87.6244),
    City("Houston", "Texas", "US", 29.7589, -95.3677),
    City("Phoenix", "Arizona", "US", 33.4484, -112.0741),
    City("Philadelphia", "Pennsylvania", "US", 39.9527, -75.1635),
    City("San Diego", "California", "US", 32.7174, -117.1628),
    City("Dallas", "Texas", "US", 32.7763, -96.7969),
    City("San Francisco", "California", "US", 37.7790, -122.4199),
    City("Seattle", "Washington", "US", 47.6038, -122.3301),
    City("Denver", "Colorado", "US", 39.7392, -104.9849),
    City("Boston", "Massachusetts", "US", 42.3554, -71.0605),
    City("Miami", "Florida", "US", 25.7742, -80.1936),
    City("Orlando", "Florida", "US", 28.5421, -81.3790),
    City("Augusta", "Georgia", "US", 33.4710, -81.9748),
    City("Pebble Beach", "California", "US", 36.5664, -121.9466),
    City("Springfield", "Illinois", "US", 39.7990, -89.6440),
    City("Springfield", "Missouri", "US", 37.2082, -93.2923),
    City("Paris", "Ile-de-France", "FR", 48.8589, 2.3200),
    City("Paris", "Texas", "US", 33.6618, -95.5555),
    City("London", "England", "GB", 51.5073, -0.1276),
    City("London", "Ontario", "CA", 42.9837, -81.2497),
    City("St Andrews", "Scotland", "GB", 56.3404, -2.7955),
    City("Dublin", None, "IE", 53.3498, -6.2603),
    City("Berlin", None, "DE", 52.5170, 13.3889),
    City("Munich", "Bavaria", "DE", 48.1371, 11.5754),
    City("Zurich", "Zurich", "CH", 47.3744, 8.5410),
    City("Vienna", None, "AT", 48.2084, 16.3725),
    City("Rome", "Lazio", "IT", 41.8933, 12.4829),
    City("Madrid", "Community of Madrid", "ES", 40.4167, -3.7036),
    City("Lisbon", None, "PT", 38.7078, -9.1366),
    City("Amsterdam", "North Holland", "NL", 52.3731, 4.8925),
    City("Oslo", None, "NO", 59.9133, 10.7390),
    City("Reykjavik", None, "IS", 64.1460, -21.9422),
    City("Toronto", "Ontario", "CA", 43.6535, -79.3839),
    City("Mexico City", None, "MX", 19.4326, -99.1332),
    City("São Paulo", "São Paulo", "BR", -23.5507, -46.6334),
    City("Cape Town", "Western Cape", "ZA", -33.9288, 18.4172),
    City("Nairobi", None, "KE", -1.2833, 36.8172),
    City("Dubai", "Dubai", "AE", 25.2653, 55.2925),
    City("Mumbai", "Maharashtra", "IN", 19.0550, 72.8692),
    City("Singapore", None, "SG", 1.2900, 103.8520),
    City("Tokyo", None, "JP", 35.6828, 139.7595),
    City("Sydney", "New South Wales", "AU", -33.8698, 151.2083),
    City("Auckland", "Auckland", "NZ", -36.8521, 174.7632),
)
_STATES: Final = {
    "AZ": "Arizona",
    "CA": "California",
    "CO": "Colorado",
    "FL": "Florida",
    "GA": "Georgia",
    "IL": "Illinois",
    "MA": "Massachusetts",
    "MO": "Missouri",
    "NY": "New York",
    "PA": "Pennsylvania",
    "TX": "Texas",
    "WA": "Washington",
}


def find_cities(query: str) -> Iterator[City]:
    """The cities that `city`, `city,country` or `city,state,country` names, in table order.

    What stands between is taken for either, as OpenWeatherMap does for the United States.
    """
    name, *rest = (_folded(part) for part in query.split(","))
    for city in CITIES:
        known = {_folded(each) for each in _names_around(city)}
        if _folded(city.name) == name and known.issuperset(rest):
            yield city


def city_at(latitude: float, longitude: float) -> City | None:
    """The city at these coordinates, or None."""
    for city in CITIES:
        north, east = city.latitude - latitude, city.longitude - longitude
        if max(abs(north), abs(east)) <= _NEAR:
            return city
    return None


def _names_around(city: City) -> Iterator[str]:
    yield city.country
    if city.state is not None:
        yield city.state
        if city.country == "US":
            yield from (short for short, name in _STATES.items() if name == city.state)


def _folded(text: str) -> str:
    """Without case, accents and outer space."""
    return without_accents(text.strip()).casefold()
