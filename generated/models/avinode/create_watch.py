# Generated from schemas/tools/avinode/create_watch.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b7ca3e051fc3c30d07de32ed7538dae0; generator 1

"""Watch for empty legs.

Create a watch that looks out for empty legs between two airports.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from generated.models.common.aviation import DateRange, IcaoAirport, Passengers, UsDollars
from generated.models.common.identifiers import Identifier


class CreateWatchInput(BaseModel):
    """
    Which empty legs to look out for.

    Schema: schemas/tools/avinode/create_watch.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    departure_airport: IcaoAirport
    """ICAO code of the airport of departure, such as KTEB."""

    arrival_airport: IcaoAirport
    """ICAO code of the airport of arrival, such as KVNY."""

    date_range: DateRange
    """The days on which the flight may depart."""

    passengers: Passengers | None = None
    """Number of passengers."""

    max_price: UsDollars | None = None
    """Only flights that cost at most this, in US dollars."""


class CreateWatchOutput(BaseModel):
    """
    The watch that was created.

    Schema: schemas/tools/avinode/create_watch.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    watch_id: Identifier
    """The watch's id."""

    status: Literal["active", "paused"]
    """The state of the watch."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""
