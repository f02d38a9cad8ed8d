# Generated from schemas/tools/sheets/add_flight_history.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c9f4f779352a1d3e38b9984a5bb851a3; generator 1

"""Add a flight to a client's history.

Add a completed flight to a client's history and update the client's flight figures.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, ClientId


class FlightDetails(BaseModel):
    """The flight that took place."""

    model_config = ConfigDict(
        extra="forbid",
    )
    date: str
    """Departure date, YYYY-MM-DD."""

    route: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """The airports, such as KTEB-KVNY."""

    aircraft: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """Type or registration of the aircraft."""

    operator: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """Id or name of the operator."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price of the flight, in US dollars."""


class AddFlightHistoryInput(BaseModel):
    """
    The client and the flight.

    Schema: schemas/tools/sheets/add_flight_history.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """Id of the client, such as CL-001."""

    flight_details: FlightDetails


class AddFlightHistoryOutput(BaseModel):
    """
    The recorded flight, and the client's updated figures.

    Schema: schemas/tools/sheets/add_flight_history.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """Id of the client, as the sheet has it."""

    recorded_at: str
    """Time of the record, as written to the sheet, RFC 3339 in UTC."""

    recorded_range: CellText
    """Cells of the record, in A1 notation."""

    total_flights: Annotated[int | None, Field(ge=1, le=1000000000)] = None
    """
    Number of the client's flights, including this one; absent if the cell in the sheet is not
    a number and was not changed.
    """

    last_flight_date: str | None = None
    """
    Date of the client's last flight; absent if the cell in the sheet is not a date and was
    not changed.
    """
