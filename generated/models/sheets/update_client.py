# Generated from schemas/tools/sheets/update_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ab43c6be83cccbc36a9dbd2a9e86a47a; generator 1

"""Update a client.

Update the preferences or other data of a client in the client sheet.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, ClientId, VipStatus
from generated.models.common.identifiers import Identifier


class Updates(BaseModel):
    """The new values, by column name. Other columns are not changed."""

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
    """Preferred size of aircraft. Null clears the cell."""

    catering_preference: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Meal preferences and restrictions. Null clears the cell."""

    special_needs: Annotated[str | None, Field(max_length=2000, min_length=1)] = None
    """Access or care that the client needs. Null clears the cell."""

    vip_status: VipStatus | None = None
    """VIP status of the client."""

    total_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Number of flights so far. `add_flight_history` updates it."""

    last_flight_date: str | None = None
    """Date of the last flight, YYYY-MM-DD. Null clears the cell."""

    preferred_operators: Annotated[list[Identifier] | None, Field(max_length=100)] = None
    """Ids of the client's preferred operators. An empty list clears the cell."""


class UpdateClientInput(BaseModel):
    """
    The client and the changes.

    Schema: schemas/tools/sheets/update_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: ClientId
    """Id of the client, such as CL-001."""

    updates: Updates


class UpdateClientOutput(BaseModel):
    """
    The changes.

    Schema: schemas/tools/sheets/update_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """Id of the client, as the sheet has it."""

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
    """Time of the change, as written to the sheet, RFC 3339 in UTC."""
