# Generated from schemas/tools/weather/get_weather.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5a20c32e289a0bd19f3bdaf0e9b860e0; generator 1

"""Get the weather.

Get the current weather and the forecast by day for a city or coordinates.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Country


class GetWeatherInput(BaseModel):
    """
    Where, and in which units.

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
    A city, such as Paris or Paris, FR or Springfield, IL, US, or coordinates in degrees as
    latitude and longitude, such as 48.85,2.35; north and east are positive.
    """

    units: Literal["metric", "imperial"] = "imperial"
    """
    imperial: degrees Fahrenheit and miles per hour; metric: degrees Celsius and metres per
    second.
    """


class Location(BaseModel):
    """The place that the weather is of."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=200)] = None
    """The place's name; missing where there is none, at sea for one."""

    state: Annotated[str | None, Field(max_length=200)] = None
    """State or region, where it is known."""

    country: Country | None = None
    """Country as ISO 3166-1 alpha-2 code; missing at sea."""

    latitude: Annotated[int | float, Field(ge=-90.0, le=90.0)]
    """Latitude in degrees, north positive."""

    longitude: Annotated[int | float, Field(ge=-180.0, le=180.0)]
    """Longitude in degrees, east positive."""


class Units(BaseModel):
    """The units of the numbers in this answer."""

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
    """Unit of rain and snow, as water."""

    visibility: Literal["m"]
    """Unit of visibility."""


class Current(BaseModel):
    """The weather now."""

    model_config = ConfigDict(
        extra="forbid",
    )
    observed_at: str
    """When it was observed, RFC 3339 in UTC."""

    condition: Annotated[str, Field(max_length=100)]
    """The kind of weather in a word, such as Rain."""

    description: Annotated[str, Field(max_length=200)]
    """The weather in words, such as light rain."""

    temperature: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Temperature."""

    feels_like: Annotated[int | float, Field(ge=-300.0, le=1000.0)]
    """What the temperature feels like."""

    humidity: Annotated[int | float, Field(ge=0.0, le=100.0)]
    """Relative humidity in percent."""

    pressure: Annotated[int | float, Field(ge=0.0, le=2000.0)]
    """Pressure of the air at sea level."""

    wind_speed: Annotated[int | float, Field(ge=0.0, le=1000.0)]
    """Speed of the wind."""

    wind_direction: Annotated[int | float | None, Field(ge=0.0, le=360.0)] = None
    """Where the wind comes from, in degrees clockwise from north."""

    wind_gust: Annotated[int | float | None, Field(ge=0.0, le=1000.0)] = None
    """Speed of gusts."""

    cloud_cover: Annotated[int | float | None, Field(ge=0.0, le=100.0)] = None
    """Cloud cover in percent."""

    visibility: Annotated[int | float | None, Field(ge=0.0, le=100000.0)] = None
    """How far one can see."""

    precipitation_last_hour: Annotated[int | float | None, Field(ge=0.0, le=20000.0)] = None
    """Rain and snow of the last hour."""


class Forecast(BaseModel):
    """The weather of a day."""

    model_config = ConfigDict(
        extra="forbid",
    )
    date: str
    """The day, YYYY-MM-DD, local to the place."""

    condition: Annotated[str, Field(max_length=100)]
    """The most frequent kind of weather of the day in a word."""

    description: Annotated[str, Field(max_length=200)]
    """The same in words."""

    temperature_min: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Lowest temperature."""

    temperature_max: Annotated[int | float, Field(ge=-200.0, le=1000.0)]
    """Highest temperature."""

    precipitation_probability: Annotated[int, Field(ge=0, le=100)]
    """Highest probability of rain or snow in any three hours, in percent."""

    precipitation: Annotated[int | float, Field(ge=0.0, le=200000.0)]
    """Rain and snow of the day."""

    wind_speed_max: Annotated[int | float, Field(ge=0.0, le=1000.0)]
    """Highest speed of the wind."""


class GetWeatherOutput(BaseModel):
    """
    The weather now, and in the days to come.

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
    The days to come, local to the place; the first may be the rest of today, and the last a
    part of a day.
    """
