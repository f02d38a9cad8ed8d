"""Converts OpenWeatherMap's replies to the current weather and the daily forecast."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

from gateway.contract.fields.conversion import rfc3339

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
