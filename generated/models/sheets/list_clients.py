# Generated from schemas/tools/sheets/list_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 11934a9736ca00d840e12c790576306f; generator 1

"""List clients.

List the clients of the client sheet, part by part.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import Client


class ListClientsInput(BaseModel):
    """
    Which part of the list.

    Schema: schemas/tools/sheets/list_clients.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    """Largest number of clients to answer."""

    offset: Annotated[int, Field(ge=0, le=10000000)] = 0
    """How many clients to leave out at the beginning."""


class ListClientsOutput(BaseModel):
    """
    A part of the clients, in the order of the sheet.

    Schema: schemas/tools/sheets/list_clients.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The clients from `offset` on."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """How many clients there are."""

    next_offset: Annotated[int | None, Field(ge=1, le=10000100)] = None
    """The `offset` of the next part; left out at the end."""
