# Generated from schemas/tools/amadeus/get_airport_code.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 801bac914ddc62307553f135d59babd4; generator 1

"""Get airport code.

Find the IATA code of a city's busiest airport. The result also has the city's own code and other
airports that match the name.
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
    """
    Name of a city in English, such as New York. Accents are removed before the request is
    sent.
    """


class Alternative(BaseModel):
    """Another airport."""

    model_config = ConfigDict(
        extra="forbid",
    )
    code: IataAirport
    """IATA code of the airport."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the airport, as Amadeus spells it."""

    city_name: Annotated[str | None, Field(max_length=200)]
    """Name of the city."""

    country_code: Annotated[str | None, Field(max_length=2, pattern="^[A-Z]{2}$")]
    """Country of the city, as an ISO 3166-1 alpha-2 code."""


class GetAirportCodeOutput(BaseModel):
    """
    The busiest airport of the city, and other airports that match the name.

    Schema: schemas/tools/amadeus/get_airport_code.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    code: IataAirport
    """IATA code of the airport, for `search_flights`."""

    name: Annotated[str, Field(max_length=200)]
    """Name of the airport, as Amadeus spells it."""

    kind: Literal["airport", "city"]
    """
    `airport`, or `city` if Amadeus lists the city but none of its airports. `code` is then
    the code of the city.
    """

    city_code: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")]
    """
    IATA code of the city, for `search_hotels`, and for `search_flights` to search all its
    airports.
    """

    city_name: Annotated[str | None, Field(max_length=200)]
    """Name of the city that was found. Compare it with the requested city."""

    country_code: Annotated[str | None, Field(max_length=2, pattern="^[A-Z]{2}$")]
    """Country of the city, as an ISO 3166-1 alpha-2 code."""

    alternatives: Annotated[list[Alternative], Field(max_length=20)]
    """Other airports that match the name, busiest first."""
