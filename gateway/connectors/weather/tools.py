"""The tool of the connector `weather`: it finds the place, then sends two requests in parallel."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from msgspec import Struct

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall
from gateway.contract.fields.conversion import rfc3339
from gateway.errors import ToolFailed
from generated.models.weather.get_weather import GetWeatherInput, GetWeatherOutput

MAX_DAYS: Final = 6
"""Forty steps of three hours are five days, with six dates unless they start at midnight."""
_UNITS: Final[Mapping[str, tuple[str, str]]] = {"metric": ("°C", "m/s"), "imperial": ("°F", "mph")}

Step = Mapping[str, Any]
"""The current weather or a forecast entry in OpenWeatherMap's form."""


def units_of(system: str) -> dict[str, str]:
    """The units of OpenWeatherMap's replies, for `metric` or `imperial`."""
    temperature, wind_speed = _UNITS[system]
    return {
        "temperature": temperature,
        "wind_speed": wind_speed,
        "pressure": "hPa",
        "precipitation": "mm",
        "visibility": "m",
    }


def current_of(weather: Step) -> dict[str, Any]:
    """The current weather."""
    main, wind = weather["main"], weather["wind"]
    current = {
        "observed_at": rfc3339(datetime.fromtimestamp(weather["dt"], UTC)),
        "condition": weather["weather"][0]["main"],
        "description": weather["weather"][0]["description"],
        "temperature": main["temp"],
        "feels_like": main["feels_like"],
        "humidity": main["humidity"],
        "pressure": main["pressure"],
        "wind_speed": wind["speed"],
    }
    optional = {
        "wind_direction": wind.get("deg"),
        "wind_gust": wind.get("gust"),
        "cloud_cover": weather.get("clouds", {}).get("all"),
        "visibility": weather.get("visibility"),
        "precipitation_last_hour": precipitation(weather, "1h"),
    }
    return current | {name: value for name, value in optional.items() if value is not None}


def days_of(steps: Sequence[Step], offset_seconds: int) -> list[dict[str, Any]]:
    """The forecast by day, in local time, which is `offset_seconds` ahead of UTC."""
    ordered = sorted(steps, key=lambda step: step["dt"])
    days = groupby(ordered, key=lambda step: _date(step, offset_seconds))
    return [_day(date, list(entries)) for date, entries in days][:MAX_DAYS]


def precipitation(step: Step, hours: str) -> float:
    """Rain and snow of the last `hours`, `1h` or `3h`, in millimetres of water."""
    fallen: float = sum(step.get(kind, {}).get(hours, 0.0) for kind in ("rain", "snow"))
    return round(fallen, 2)


def _date(step: Step, offset_seconds: int) -> str:
    return datetime.fromtimestamp(step["dt"] + offset_seconds, UTC).date().isoformat()


def _day(date: str, steps: Sequence[Step]) -> dict[str, Any]:
    condition, description = Counter(_conditions(steps)).most_common(1)[0][0]
    return {
        "date": date,
        "condition": condition,
        "description": description,
        "temperature_min": min(step["main"]["temp_min"] for step in steps),
        "temperature_max": max(step["main"]["temp_max"] for step in steps),
        "precipitation_probability": round(max(step.get("pop", 0) for step in steps) * 100),
        "precipitation": round(sum(precipitation(step, "3h") for step in steps), 2),
        "wind_speed_max": max(step["wind"]["speed"] for step in steps),
    }


def _conditions(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """The condition and its description at each step."""
    for step in steps:
        first = step["weather"][0]
        yield first["main"], first["description"]


_WEATHER: Final = "weather"
_DEGREES: Final = r"[+-]?[0-9]{1,3}(?:[.][0-9]{1,8})?"
_COORDINATES: Final = re.compile(rf"({_DEGREES}) ?, ?({_DEGREES})")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")
_NOT_A_PLACE: Final = frozenset({400, 404})
"""OpenWeatherMap's statuses for a text that it cannot search for."""


class Coordinates(Struct, frozen=True):
    """Coordinates in degrees, north and east positive."""

    latitude: float
    longitude: float


class Location(Struct, frozen=True, kw_only=True):
    """The location of the weather, with its names."""

    point: Coordinates
    names: Mapping[str, str] = {}
    """`name`, `state` and `country`, if known."""


@tool_handler
async def get_weather(arguments: GetWeatherInput, context: CallContext) -> GetWeatherOutput:
    """The current weather and the daily forecast. Fails with `location_not_found`."""
    place = await _place(arguments.location, context)
    query = {
        "lat": _degrees(place.point.latitude),
        "lon": _degrees(place.point.longitude),
        "units": arguments.units,
    }
    weather, forecast = await _both(query, context)
    location = {
        **(place.names or _names_of(weather, weather["sys"])),
        "latitude": place.point.latitude,
        "longitude": place.point.longitude,
    }
    return GetWeatherOutput.model_validate(
        {
            "location": location,
            "units": units_of(arguments.units),
            "current": current_of(weather),
            "forecast": days_of(forecast["list"], forecast["city"]["timezone"]),
        }
    )


def parse_coordinates(text: str) -> Coordinates | None:
    """The latitude and longitude in `text`; None if `text` is not a valid pair of coordinates."""
    found = _COORDINATES.fullmatch(text)
    if found is None:
        return None
    latitude, longitude = float(found[1]), float(found[2])
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return Coordinates(latitude, longitude)


def place_query(text: str) -> str:
    """The name of a place in OpenWeatherMap's form: its parts, separated only by commas."""
    return ",".join(filter(None, (part.strip() for part in text.split(","))))


async def _place(location: str, context: CallContext) -> Location:
    point = parse_coordinates(location)
    if point is not None:
        return Location(point=point)
    query = {"q": place_query(location), "limit": "1"}
    upstream_call = UpstreamCall(_WEATHER, "findPlaces", query=query)
    reply = await context.send(upstream_call, expect=_NOT_A_PLACE)
    if reply.is_not_found or not reply.body:
        raise ToolFailed("location_not_found")
    if reply.failure is not None:
        raise reply.failure
    found = reply.body[0]
    return Location(point=Coordinates(found["lat"], found["lon"]), names=_names_of(found, found))


async def _both(
    query: Mapping[str, str], context: CallContext
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The weather and the forecast. If one request fails, the other is cancelled."""
    try:
        async with asyncio.TaskGroup() as requests:
            weather, forecast = (
                requests.create_task(context.send(UpstreamCall(_WEATHER, operation, query=query)))
                for operation in ("readWeather", "readForecast")
            )
    except ExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
    return weather.result().body, forecast.result().body


def _names_of(found: Mapping[str, Any], around: Mapping[str, Any]) -> dict[str, str]:
    """OpenWeatherMap's names of a place, without empty ones. At sea there are none."""
    names = {name: found[name] for name in ("name", "state") if found.get(name)}
    country = around.get("country", "")
    return names | ({"country": country} if _COUNTRY.fullmatch(country) else {})


def _degrees(value: float) -> str:
    """Degrees as text, to about ten metres, without exponent."""
    return f"{value:.4f}"
