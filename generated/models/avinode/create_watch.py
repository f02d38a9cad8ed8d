# Generated from schemas/tools/avinode/create_watch.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 69b1ae68cbf16ce54d199e0042af3a87; generator 1

"""Watch for empty legs.

Create a watch for empty legs between two airports.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from generated.models.common.aviation import DateRange, IcaoAirport, Passengers, UsDollars
from generated.models.common.identifiers import Identifier


class CreateWatchInput(BaseModel):
    """
    The empty legs to watch for.

    Schema: schemas/tools/avinode/create_watch.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    departure_airport: IcaoAirport
    """ICAO code of the departure airport, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the arrival airport, such as KVNY."""

    date_range: DateRange
    """The days on which the flight may depart."""

    passengers: Passengers | None = None
    """Number of passengers."""

    max_price: UsDollars | None = None
    """Maximum price, in US dollars."""


class CreateWatchOutput(BaseModel):
    """
    The watch that was created.

    Schema: schemas/tools/avinode/create_watch.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    watch_id: Identifier
    """Id of the watch."""

    status: Literal["active", "paused"]
    """Status of the watch."""

    created_at: str
    """Creation time, RFC 3339 in UTC."""
