# Generated from schemas/tools/sheets/search_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7302afa0de9e37d316ab2d5ba671f4fe; generator 1

"""Search a client by name.

Search clients by name or email address and return the requested fields.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, History, Preferences, VipStatus


class SearchClientInput(BaseModel):
    """
    The search text, and the fields to return.

    Schema: schemas/tools/sheets/search_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[str, Field(max_length=200, min_length=1, pattern="[^ ]")]
    """
    Words that must all occur in the client's name or email address. Case and accents are
    ignored.
    """

    fields: Annotated[
        list[
            Literal[
                "client_id",
                "name",
                "email",
                "phone",
                "company",
                "preferences",
                "history",
                "vip_status",
            ]
        ]
        | None,
        Field(max_length=8, min_length=1),
    ] = None
    """Fields to return besides the id; the default is all fields."""


class Client(BaseModel):
    """A client, with the requested fields."""

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """Id of the client, such as CL-001."""

    name: CellText | None = None
    """Full name."""

    email: CellText | None = None
    """Email address, as the sheet has it."""

    phone: CellText | None = None
    """Telephone number, as the sheet has it."""

    company: CellText | None = None
    """Company."""

    preferences: Preferences | None = None
    """Preferences and needs of the client."""

    history: History | None = None
    """Figures about the client's flights."""

    vip_status: VipStatus | None = None
    """VIP status of the client; absent if the cell has none of these values."""


class SearchClientOutput(BaseModel):
    """
    The clients that match, in the order of the sheet.

    Schema: schemas/tools/sheets/search_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The first hundred matches."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """Number of clients that match, including those not returned."""
