# Generated from schemas/tools/sheets/search_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cc28469f7ae214e1439ad433e2bb055e; generator 1

"""Search a client by name.

Search clients by name or email address and answer the fields asked for.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import CellText, History, Preferences, VipStatus


class SearchClientInput(BaseModel):
    """
    Which client to search for, and which fields to return.

    Schema: schemas/tools/sheets/search_client.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[str, Field(max_length=200, min_length=1, pattern="[^ ]")]
    """
    Words that must all occur in the client's name or email address; upper and lower case are
    the same, and letters with and without accents.
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
    """What to answer of each client besides the id; everything when left out."""


class Client(BaseModel):
    """A client, as far as asked for."""

    model_config = ConfigDict(
        extra="forbid",
    )
    client_id: CellText
    """The client's id, such as CL-001."""

    name: CellText | None = None
    """Full name."""

    email: CellText | None = None
    """Email address, as the sheet holds it."""

    phone: CellText | None = None
    """Telephone number, as the sheet holds it."""

    company: CellText | None = None
    """Company."""

    preferences: Preferences | None = None
    """What the client likes and needs."""

    history: History | None = None
    """The client's flights in figures."""

    vip_status: VipStatus | None = None
    """The client's status; left out where the cell holds none of these words."""


class SearchClientOutput(BaseModel):
    """
    The clients that fit, in the order of the sheet.

    Schema: schemas/tools/sheets/search_client.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The first hundred of them."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """How many clients fit, answered here or not."""
