# Generated from schemas/tools/amadeus/get_airport_code.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0a8426793d86de6a2e25f8eedc5f6e37; generator 1

"""Get airport code.

Find the IATA code of a city's busiest airport. The answer also holds the city's own code and other
airports that fit the name.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import IataAirport


class GetAirportCodeInput(BaseModel):
    """
    The city to find.

    Schema: schemas/tools/amadeus/get_airport_code.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    city_name: Annotated[str, Field(max_length=100, min_length=1)]
    """Name of a city in English, such as New York. Accents are left out before it is sent."""


class Alternative(BaseModel):
    """Another airport."""

    model_config = ConfigDict(
        extra="forbid",
    )
    code: IataAirport
    """IATA code of the airport."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the airport, as Amadeus writes it."""

    city_name: Annotated[str | None, Field(max_length=200)]
    """Name of its city."""

    country_code: Annotated[str | None, Field(max_length=2, pattern="^[A-Z]{2}$")]
    """Its country as ISO 3166-1 alpha-2 code."""


class GetAirportCodeOutput(BaseModel):
    """
    The busiest airport of the city, and what else fits the name.

    Schema: schemas/tools/amadeus/get_airport_code.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    code: IataAirport
    """IATA code of the airport: `search_flights` takes it."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the airport, as Amadeus writes it."""

    kind: Literal["airport", "city"]
    """`city` where Amadeus knows the city and none of its airports; the code is then the city's."""

    city_code: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")]
    """
    IATA code of the city: `search_hotels` takes it, and `search_flights` for any of its
    airports.
    """

    city_name: Annotated[str | None, Field(max_length=200)]
    """Name of the city that was found; compare it with the one asked for."""

    country_code: Annotated[str | None, Field(max_length=2, pattern="^[A-Z]{2}$")]
    """Country of the city as ISO 3166-1 alpha-2 code."""

    alternatives: Annotated[list[Alternative], Field(max_length=20)]
    """Other airports that fit the name, busiest first."""
