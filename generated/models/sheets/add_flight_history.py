# Generated from schemas/tools/sheets/add_flight_history.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c6240acb715b39e44236e3cbc0cf2885; generator 1

"""Add a flight to a client's history.

Add a flight that took place to a client's history and count it.
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
    """Day of departure, YYYY-MM-DD."""

    route: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """The airports, such as KTEB-KVNY."""

    aircraft: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """Type or registration of the aircraft."""

    operator: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """Id or name of the operator."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """What the flight cost, in US dollars."""


class AddFlightHistoryInput(BaseModel):
    """
    Whose flight, and which.

    Schema: schemas/tools/sheets/add_flight_history.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """The client's id, such as CL-001."""

    flight_details: FlightDetails


class AddFlightHistoryOutput(BaseModel):
    """
    The flight that was recorded, and the client's figures after it.

    Schema: schemas/tools/sheets/add_flight_history.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """The client's id, as the sheet holds it."""

    recorded_at: str
    """The time that was noted as that of the record, RFC 3339 in UTC."""

    recorded_range: CellText
    """Where the record stands, in A1 notation."""

    total_flights: Annotated[int | None, Field(ge=1, le=1000000000)] = None
    """
    The client's flights, this one included; left out where the sheet's cell holds no number
    and was left alone.
    """

    last_flight_date: str | None = None
    """
    Day of the client's last flight; left out where the sheet's cell holds no date and was
    left alone.
    """
