# Generated from schemas/tools/sheets/update_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4bfc2ea68351b5687bf2edeac28a5f21; generator 1

"""Update a client.

Update the preferences or other data of a client in the client sheet.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, ClientId, VipStatus
from generated.models.common.identifiers import Identifier


class Updates(BaseModel):
    """The cells to change, by the column's name. What is not named stays as it is."""

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """Full name."""

    email: Annotated[str | None, Field(max_length=254)] = None
    """Email address."""

    phone: Annotated[str | None, Field(max_length=50, min_length=1)] = None
    """Telephone number. Null clears the cell."""

    company: Annotated[str | None, Field(max_length=200, min_length=1)] = None
    """Company. Null clears the cell."""

    aircraft_preference: Literal["light", "midsize", "heavy"] | None = None
    """Size of aircraft. Null clears the cell."""

    catering_preference: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Wishes and restrictions for meals. Null clears the cell."""

    special_needs: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """What access or care the client needs. Null clears the cell."""

    vip_status: VipStatus | None = None
    """How the client is to be treated."""

    total_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Flights so far; `add_flight_history` counts by itself."""

    last_flight_date: str | None = None
    """Day of the last flight, YYYY-MM-DD. Null clears the cell."""

    preferred_operators: Annotated[list[Identifier] | None, Field(max_length=100)] = None
    """Ids of the operators that the client prefers; an empty list clears the cell."""


class UpdateClientInput(BaseModel):
    """
    Which client, and what to change.

    Schema: schemas/tools/sheets/update_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """The client's id, such as CL-001."""

    updates: Updates


class UpdateClientOutput(BaseModel):
    """
    What was changed.

    Schema: schemas/tools/sheets/update_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """The client's id, as the sheet holds it."""

    updated_fields: Annotated[
        list[
            Literal[
                "name",
                "email",
                "phone",
                "company",
                "aircraft_preference",
                "catering_preference",
                "special_needs",
                "vip_status",
                "total_flights",
                "last_flight_date",
                "preferred_operators",
            ]
        ],
        Field(max_length=11),
    ]
    """The columns that were written, in the order of the sheet."""

    updated_at: str
    """The time that was noted as that of the change, RFC 3339 in UTC."""
