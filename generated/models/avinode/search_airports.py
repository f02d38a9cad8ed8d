# Generated from schemas/tools/avinode/search_airports.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 13f549f0ca57feeaecc7fa7d8ab3035d; generator 1

"""Search airports.

Find airports by name, city or code.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Country, IataAirport, IcaoAirport


class SearchAirportsInput(BaseModel):
    """
    The search text and filters.

    Schema: schemas/tools/avinode/search_airports.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[str, Field(max_length=100, min_length=1, pattern="[^ \\t\\r\\n]")]
    """Part of an airport's name, city, ICAO code or IATA code."""

    country: Country | None = None
    """Only airports in this country, as an ISO 3166-1 alpha-2 code."""

    limit: Annotated[int, Field(ge=1, le=50)] = 10
    """Maximum number of airports."""


class Airport(BaseModel):
    """An airport."""

    model_config = ConfigDict(
        extra="forbid",
    )
    icao: IcaoAirport
    """ICAO code, such as KTEB."""

    iata: IataAirport | None = None
    """IATA code, if the airport has one."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the airport."""

    city: Annotated[str, Field(max_length=200)]
    """City that the airport serves."""

    country: Country
    """Country, as an ISO 3166-1 alpha-2 code."""

    lat: Annotated[int | float, Field(ge=-90.0, le=90.0)]
    """Latitude in degrees, north positive."""

    lon: Annotated[int | float, Field(ge=-180.0, le=180.0)]
    """Longitude in degrees, east positive."""


class SearchAirportsOutput(BaseModel):
    """
    The airports that match.

    Schema: schemas/tools/avinode/search_airports.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    airports: Annotated[list[Airport], Field(max_length=50)]
    """The airports that match, best match first."""
