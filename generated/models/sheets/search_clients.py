# Generated from schemas/tools/sheets/search_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ebfed4c3f3a46e28d55340b4e622bbed; generator 1

"""Search clients by criteria.

Search clients by words, status and number of flights.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import Client, VipStatus


class Filters(BaseModel):
    """Further conditions; all must hold."""

    model_config = ConfigDict(
        extra="forbid",
    )
    vip_status: VipStatus | None = None
    """Only clients of this status."""

    min_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Only clients with at least this many flights."""


class SearchClientsInput(BaseModel):
    """
    Which clients; without query and filters, all.

    Schema: schemas/tools/sheets/search_clients.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """
    Words that must all occur in the client's id, name, email address or company; upper and
    lower case are the same, and letters with and without accents.
    """

    filters: Filters | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """Largest number of clients to answer."""


class SearchClientsOutput(BaseModel):
    """
    The clients that fit, in the order of the sheet.

    Schema: schemas/tools/sheets/search_clients.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The first of them."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """How many clients fit, answered here or not."""
