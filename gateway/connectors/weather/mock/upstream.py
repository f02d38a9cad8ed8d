"""The behaviour of the weather mock: places by name, and weather derived from place, day and seed.

The current weather and the forecast for the same time agree. The weather depends on latitude,
season and time of day; the rest is pseudo-random with a fixed seed.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.places import without_accents
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import MockRefusal, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

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


_STEP: Final = timedelta(hours=3)
_STEPS: Final = 40
_MESSAGES: Final[Mapping[int, str]] = {
    400: "bad query",
    401: "Invalid API key. Please see https://openweathermap.org/faq#error401 for more info.",
    403: "Forbidden",
    404: "Internal error",
    429: "Your account is temporary blocked due to exceeding of requests limitation of your "
    "subscription type. Please choose the proper subscription https://openweathermap.org/price",
}
_TEXT_COD: Final = frozenset({400, 404})
"""Statuses whose `cod` is text. For other statuses, it is a number."""
_SKIES: Final = (
    (0.35, (800, "Clear", "clear sky", "01d")),
    (0.50, (801, "Clouds", "few clouds", "02d")),
    (0.70, (803, "Clouds", "broken clouds", "04d")),
    (0.90, (500, "Rain", "light rain", "10d")),
    (1.00, (502, "Rain", "heavy intensity rain", "10d")),
)
_SNOW: Final = (600, "Snow", "light snow", "13d")
_RAINY: Final = 0.70
_FREEZING: Final = 1.0


def refuse(refusal: MockRefusal) -> Any:
    """OpenWeatherMap's error for this status."""
    return _error(refusal.status, _MESSAGES.get(refusal.status, "Internal error"))


def finish(reply: MockReply) -> MockReply:
    """The reply unchanged: OpenWeatherMap adds no headers."""
    return reply


def find_places(request: MockRequest, _state: MockState) -> MockReply:
    query = request.query["q"]
    if not query.strip(" ,"):
        return MockReply(status=400, body=_error(400, "Nothing to geocode"))
    found = [_place(city) for city in find_cities(query)]
    return MockReply(body=found[: request.query.get("limit", 1)])


def read_weather(request: MockRequest, _state: MockState) -> MockReply:
    latitude, longitude = request.query["lat"], request.query["lon"]
    city = city_at(latitude, longitude)
    entry = _entry(request, request.now)
    body = {
        "coord": {"lon": longitude, "lat": latitude},
        "base": "stations",
        **{name: entry[name] for name in ("weather", "visibility", "wind", "clouds", "dt")},
        **_of_one_hour(entry),
        "main": {name: value for name, value in entry["main"].items() if name != "temp_kf"},
        "sys": {**_country(city), **_sun(request.now, longitude)},
        "timezone": _offset(longitude),
        "id": _number(city),
        "name": "" if city is None else city.name,
        "cod": 200,
    }
    return MockReply(body=body)


def read_forecast(request: MockRequest, _state: MockState) -> MockReply:
    latitude, longitude = request.query["lat"], request.query["lon"]
    city = city_at(latitude, longitude)
    count = request.query.get("cnt", _STEPS)
    first = _next_step(request.now)
    steps = [_entry(request, first + number * _STEP) for number in range(count)]
    place = {
        "id": _number(city),
        "name": "" if city is None else city.name,
        "coord": {"lat": latitude, "lon": longitude},
        **_country(city),
        "timezone": _offset(longitude),
    }
    return MockReply(body={"cod": "200", "message": 0, "cnt": count, "list": steps, "city": place})


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "findPlaces": find_places,
        "readWeather": read_weather,
        "readForecast": read_forecast,
    },
)


def _place(city: WeatherCity) -> dict[str, Any]:
    place = {
        "name": city.name,
        "lat": city.latitude,
        "lon": city.longitude,
        "country": city.country,
    }
    return place if city.state is None else place | {"state": city.state}


def _country(city: WeatherCity | None) -> dict[str, str]:
    return {} if city is None else {"country": city.country}


def _of_one_hour(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One third of the precipitation of three hours."""
    return {
        name: {"1h": round(entry[name]["3h"] / 3, 2)} for name in ("rain", "snow") if name in entry
    }


def _sun(now: datetime, longitude: float) -> dict[str, int]:
    """Sunrise at six and sunset at eighteen, in solar time."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    noon = int(midnight.timestamp()) + 43200 - _offset(longitude)
    return {"sunrise": noon - 21600, "sunset": noon + 21600}


def _next_step(now: datetime) -> datetime:
    start = now.replace(minute=0, second=0, microsecond=0)
    return start + timedelta(hours=3 - start.hour % 3)


def _entry(request: MockRequest, moment: datetime) -> dict[str, Any]:
    """The weather at one time as an entry of the forecast."""
    latitude, longitude = request.query["lat"], request.query["lon"]
    units = request.query.get("units", "standard")
    point = f"{latitude:.2f} {longitude:.2f}"
    chance = request.random("weather", point, moment.strftime("%Y-%m-%d"), str(moment.hour // 3))
    celsius = _celsius(latitude, longitude, moment) + chance.uniform(-3, 3)
    speed = chance.uniform(0.5, 11)
    sky = chance.random()
    is_wet = sky > _RAINY
    is_snow = is_wet and celsius < _FREEZING
    number, main, description, icon = _SNOW if is_snow else _sky(sky)
    entry: dict[str, Any] = {
        "dt": int(moment.timestamp()),
        "main": {**_temperatures(celsius, speed, units), **_air(chance, is_wet), "temp_kf": 0},
        "weather": [{"id": number, "main": main, "description": description, "icon": icon}],
        "clouds": {"all": round(sky * 100)},
        "wind": {
            "speed": _speed(speed, units),
            "deg": chance.randint(0, 359),
            "gust": _speed(speed * 1.6, units),
        },
        "visibility": 6000 if is_wet else 10000,
        "pop": round(sky if is_wet else sky / 5, 2),
        "sys": {"pod": "d"},
        "dt_txt": moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
    }
    if is_wet:
        entry["snow" if is_snow else "rain"] = {"3h": round((sky - _RAINY) * 12 + 0.1, 2)}
    return entry


def _temperatures(celsius: float, speed: float, units: str) -> dict[str, float]:
    return {
        "temp": _temperature(celsius, units),
        "feels_like": _temperature(celsius - speed / 4, units),
        "temp_min": _temperature(celsius - 1.2, units),
        "temp_max": _temperature(celsius + 1.2, units),
    }


def _air(chance: Random, is_wet: bool) -> dict[str, int]:
    pressure = round(chance.gauss(1013, 8))
    humidity = round(min(max(chance.gauss(65, 15) + (20 if is_wet else 0), 5), 100))
    return {
        "pressure": pressure,
        "humidity": humidity,
        "sea_level": pressure,
        "grnd_level": pressure - 8,
    }


def _celsius(latitude: float, longitude: float, moment: datetime) -> float:
    """The temperature from latitude, season and time of day."""
    hour = (moment.hour + longitude / 15) % 24
    warmest = 200 if latitude >= 0 else 17
    season = math.cos((moment.timetuple().tm_yday - warmest) / 365 * math.tau)
    of_day = math.cos((hour - 15) / 24 * math.tau)
    return 28 - 0.38 * abs(latitude) + 0.28 * abs(latitude) * season + 4 * of_day


def _sky(chance: float) -> tuple[int, str, str, str]:
    return next(sky for limit, sky in _SKIES if chance <= limit)


def _temperature(celsius: float, units: str) -> float:
    if units == "imperial":
        return round(celsius * 9 / 5 + 32, 2)
    return round(celsius if units == "metric" else celsius + 273.15, 2)


def _speed(metres_per_second: float, units: str) -> float:
    return round(metres_per_second * (2.23694 if units == "imperial" else 1), 2)


def _offset(longitude: float) -> int:
    """The offset of solar time from UTC, in seconds."""
    return round(longitude / 15) * 3600


def _number(city: WeatherCity | None) -> int:
    return 0 if city is None else 1_000_000 + int(abs(city.latitude) * 1000)


def _error(status: int, message: str) -> dict[str, Any]:
    return {"cod": str(status) if status in _TEXT_COD else status, "message": message}
