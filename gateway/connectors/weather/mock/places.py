"""The cities of the weather mock: real ones, positions to about a kilometre."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from gateway.connectors.folding import without_accents

_NEAR: Final = 0.35
"""The distance in degrees up to which coordinates belong to a city."""


class WeatherCity(Struct, frozen=True):
    """A city; coordinates in degrees, north and east positive."""

    name: str
    state: str | None
    country: str
    latitude: float
    longitude: float


CITIES: Final = (
    WeatherCity("New York", "New York", "US", 40.7127, -74.0060),
    WeatherCity("Los Angeles", "California", "US", 34.0537, -118.2428),
    WeatherCity("Chicago", "Illinois", "US", 41.8756, -87.6244),
    WeatherCity("Houston", "Texas", "US", 29.7589, -95.3677),
    WeatherCity("Phoenix", "Arizona", "US", 33.4484, -112.0741),
    WeatherCity("Philadelphia", "Pennsylvania", "US", 39.9527, -75.1635),
    WeatherCity("San Diego", "California", "US", 32.7174, -117.1628),
    WeatherCity("Dallas", "Texas", "US", 32.7763, -96.7969),
    WeatherCity("San Francisco", "California", "US", 37.7790, -122.4199),
    WeatherCity("Seattle", "Washington", "US", 47.6038, -122.3301),
    WeatherCity("Denver", "Colorado", "US", 39.7392, -104.9849),
    WeatherCity("Boston", "Massachusetts", "US", 42.3554, -71.0605),
    WeatherCity("Miami", "Florida", "US", 25.7742, -80.1936),
    WeatherCity("Orlando", "Florida", "US", 28.5421, -81.3790),
    WeatherCity("Augusta", "Georgia", "US", 33.4710, -81.9748),
    WeatherCity("Pebble Beach", "California", "US", 36.5664, -121.9466),
    WeatherCity("Springfield", "Illinois", "US", 39.7990, -89.6440),
    WeatherCity("Springfield", "Missouri", "US", 37.2082, -93.2923),
    WeatherCity("Paris", "Ile-de-France", "FR", 48.8589, 2.3200),
    WeatherCity("Paris", "Texas", "US", 33.6618, -95.5555),
    WeatherCity("London", "England", "GB", 51.5073, -0.1276),
    WeatherCity("London", "Ontario", "CA", 42.9837, -81.2497),
    WeatherCity("St Andrews", "Scotland", "GB", 56.3404, -2.7955),
    WeatherCity("Dublin", None, "IE", 53.3498, -6.2603),
    WeatherCity("Berlin", None, "DE", 52.5170, 13.3889),
    WeatherCity("Munich", "Bavaria", "DE", 48.1371, 11.5754),
    WeatherCity("Zurich", "Zurich", "CH", 47.3744, 8.5410),
    WeatherCity("Vienna", None, "AT", 48.2084, 16.3725),
    WeatherCity("Rome", "Lazio", "IT", 41.8933, 12.4829),
    WeatherCity("Madrid", "Community of Madrid", "ES", 40.4167, -3.7036),
    WeatherCity("Lisbon", None, "PT", 38.7078, -9.1366),
    WeatherCity("Amsterdam", "North Holland", "NL", 52.3731, 4.8925),
    WeatherCity("Oslo", None, "NO", 59.9133, 10.7390),
    WeatherCity("Reykjavik", None, "IS", 64.1460, -21.9422),
    WeatherCity("Toronto", "Ontario", "CA", 43.6535, -79.3839),
    WeatherCity("Mexico City", None, "MX", 19.4326, -99.1332),
    WeatherCity("São Paulo", "São Paulo", "BR", -23.5507, -46.6334),
    WeatherCity("Cape Town", "Western Cape", "ZA", -33.9288, 18.4172),
    WeatherCity("Nairobi", None, "KE", -1.2833, 36.8172),
    WeatherCity("Dubai", "Dubai", "AE", 25.2653, 55.2925),
    WeatherCity("Mumbai", "Maharashtra", "IN", 19.0550, 72.8692),
    WeatherCity("Singapore", None, "SG", 1.2900, 103.8520),
    WeatherCity("Tokyo", None, "JP", 35.6828, 139.7595),
    WeatherCity("Sydney", "New South Wales", "AU", -33.8698, 151.2083),
    WeatherCity("Auckland", "Auckland", "NZ", -36.8521, 174.7632),
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


def find_cities(query: str) -> Iterator[WeatherCity]:
    """The cities that `city`, `city,country` or `city,state,country` names, in table order.

    The other parts may be the state or the country, in any order, as in OpenWeatherMap for the
    United States.
    """
    name, *rest = (_folded(part) for part in query.split(","))
    for city in CITIES:
        names = {_folded(each) for each in _names_around(city)}
        if _folded(city.name) == name and names.issuperset(rest):
            yield city


def city_at(latitude: float, longitude: float) -> WeatherCity | None:
    """The city at these coordinates, or None."""
    for city in CITIES:
        north, east = city.latitude - latitude, city.longitude - longitude
        if max(abs(north), abs(east)) <= _NEAR:
            return city
    return None


def _names_around(city: WeatherCity) -> Iterator[str]:
    yield city.country
    if city.state is not None:
        yield city.state
        if city.country == "US":
            yield from (short for short, name in _STATES.items() if name == city.state)


def _folded(text: str) -> str:
    """Without case, accents and surrounding spaces."""
    return without_accents(text.strip()).casefold()
