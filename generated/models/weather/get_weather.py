# Generated from schemas/tools/weather/get_weather.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0bce1a45be97625acd32b6b34a3a311f; generator 1

"""Get the weather.

Get the current weather and the daily forecast for a city or coordinates.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Country


class GetWeatherInput(BaseModel):
    """
    The location and the units.

    Schema: schemas/tools/weather/get_weather.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    location: Annotated[
        str,
        Field(
            max_length=100,
            min_length=1,
            pattern="^(?:[+-]?(?:90(?:[.]0{1,8})?|[0-8]?[0-9](?:[.][0-9]{1,8})?) ?, ?[+-]?(?:180(?:[.]0{1,8})?|(?:1[0-7][0-9]|[0-9]?[0-9])(?:[.][0-9]{1,8})?)|[^\\r\\n]*[^0-9 +.,\\t\\r\\n-][^\\r\\n]*)$",
        ),
    ]
    """
    A city, such as Paris, or Paris, FR, or Springfield, IL, US; or latitude and longitude in
    degrees, such as 48.85,2.35. North and east are positive.
    """

    units: Literal["metric", "imperial"] = "imperial"
    """
    imperial: degrees Fahrenheit and miles per hour; metric: degrees Celsius and metres per
    second.
    """


class Location(BaseModel):
    """The location of the weather data."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the place; absent if it has none, for example at sea."""

    state: Annotated[str | None, Field(max_length=200)] = None
    """State or region, if known."""

    country: Country | None = None
    """Country, as an ISO 3166-1 alpha-2 code; absent at sea."""

    latitude: Annotated[int | float, Field(ge=-90.0, le=90.0)]
    """Latitude in degrees, north positive."""

    longitude: Annotated[int | float, Field(ge=-180.0, le=180.0)]
    """Longitude in degrees, east positive."""


class Units(BaseModel):
    """Units of the numbers in this result."""

    model_config = ConfigDict(
        extra="forbid",
    )
    temperature: Literal["°F", "°C"]
    """Unit of temperatures."""

    wind_speed: Literal["mph", "m/s"]
    """Unit of wind speeds and gusts."""

    pressure: Literal["hPa"]
    """Unit of pressure."""

    precipitation: Literal["mm"]
    """Unit of rain and snow, as depth of water."""

    visibility: Literal["m"]
    """Unit of visibility."""


class Current(BaseModel):
    """The current weather."""

    model_config = ConfigDict(
        extra="forbid",
    )
    observed_at: str
    """Time of the observation, RFC 3339 in UTC."""

    condition: Annotated[str, Field(max_length=100)]
    """The weather in one word, such as Rain."""

    description: Annotated[str, Field(max_length=200)]
    """The weather in words, such as light rain."""

    temperature: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Temperature."""

    feels_like: Annotated[int | float, Field(ge=-300.0, le=1000.0)]
    """Apparent temperature."""

    humidity: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Relative humidity in percent."""

    pressure: Annotated[int | float, Field(ge=0.0, le=2000.0)]
    """Air pressure at sea level."""

    wind_speed: Annotated[int | float, Field(ge=0.0, le=1000.0)]
    """Wind speed."""

    wind_direction: Annotated[int | float | None, Field(ge=0.0, le=360.0)] = None
    """Direction from which the wind blows, in degrees clockwise from north."""

    wind_gust: Annotated[int | float | None, Field(ge=0.0, le=1000.0)] = None
    """Wind speed in gusts."""

    cloud_cover: Annotated[int | float | None, Field(ge=0.0, le=100.0)] = None
    """Cloud cover in percent."""

    visibility: Annotated[int | float | None, Field(ge=0.0, le=100000.0)] = None
    """Visibility."""

    precipitation_last_hour: Annotated[int | float | None, Field(ge=0.0, le=20000.0)] = None
    """Rain and snow of the last hour."""


class Forecast(BaseModel):
    """The weather of one day."""

    model_config = ConfigDict(
        extra="forbid",
    )
    date: str
    """Date, YYYY-MM-DD, in local time."""

    condition: Annotated[str, Field(max_length=100)]
    """The most frequent weather of the day, in one word."""

    description: Annotated[str, Field(max_length=200)]
    """The weather in words, such as light rain."""

    temperature_min: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Lowest temperature."""

    temperature_max: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Highest temperature."""

    precipitation_probability: Annotated[int, Field(ge=0, le=100)]
    """Highest probability of rain or snow in any three hours, in percent."""

    precipitation: Annotated[int | float, Field(ge=0.0, le=200000.0)]
    """Rain and snow of the day."""

    wind_speed_max: Annotated[int | float, Field(ge=0.0, le=1000.0)]
    """Highest wind speed."""


class GetWeatherOutput(BaseModel):
    """
    The current weather and the forecast.

    Schema: schemas/tools/weather/get_weather.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    location: Location
    units: Units
    current: Current
    forecast: Annotated[list[Forecast], Field(max_length=6)]
    """
    One item per day, in local time. The first day can be the rest of today, and the last can
    be a part of a day.
    """
