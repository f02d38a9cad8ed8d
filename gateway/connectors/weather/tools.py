"""The tool of the connector `weather`: it finds the place, then sends two requests in parallel."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.weather.forecast import current_of, days_of, units_of
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall
from gateway.errors import ToolFailed
from generated.models.weather.get_weather import GetWeatherInput, GetWeatherOutput

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
