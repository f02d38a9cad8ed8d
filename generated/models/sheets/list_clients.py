# Generated from schemas/tools/sheets/list_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 02b325e1c80fe9684a11e87ca83e9e1a; generator 1

"""List clients.

List the clients of the client sheet, in pages.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import Client


class ListClientsInput(BaseModel):
    """
    The page of the list.

    Schema: schemas/tools/sheets/list_clients.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    """Maximum number of clients."""

    offset: Annotated[int, Field(ge=0, le=10000000)] = 0
    """Number of clients to skip."""


class ListClientsOutput(BaseModel):
    """
    One page of the clients, in the order of the sheet.

    Schema: schemas/tools/sheets/list_clients.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The clients from `offset` on."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """Total number of clients."""

    next_offset: Annotated[int | None, Field(ge=1, le=10000100)] = None
    """`offset` of the next page; absent on the last page."""
