# Generated from schemas/common/places.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: db085bfee5b474feee122bba25188eb3; generator 1

"""Definitions that several contracts share: places."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

IcaoAirport = TypeAliasType("IcaoAirport", Annotated[str, Field(pattern="^[A-Z]{4}$")])
"""ICAO code of an airport, such as KTEB."""


class Day(BaseModel):
    """
    A day.

    Schema: schemas/common/places.json#/$defs/Day
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    day: str
    """The day."""


class Window(BaseModel):
    """
    A span of days.

    Schema: schemas/common/places.json#/$defs/Window
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    first: Day
    base: IcaoAirport | None = None
