# Generated from schemas/tools/sheets/search_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 229ee90e99de68049b4bd7b79bfdd903; generator 1

"""Search clients by criteria.

Search clients by words, status and number of flights.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.clients import Client, VipStatus


class Filters(BaseModel):
    """Further filters; a client must match all of them."""

    model_config = ConfigDict(
        extra="forbid",
    )
    vip_status: VipStatus | None = None
    """Only clients with this VIP status."""

    min_flights: Annotated[int | None, Field(ge=0, le=999999999)] = None
    """Only clients with at least this many flights."""


class SearchClientsInput(BaseModel):
    """
    The search text and filters; without them, all clients.

    Schema: schemas/tools/sheets/search_clients.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    query: Annotated[str | None, Field(max_length=200, min_length=1, pattern="[^ ]")] = None
    """
    Words that must all occur in the client's id, name, email address or company. Case and
    accents are ignored.
    """

    filters: Filters | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    """Maximum number of clients."""


class SearchClientsOutput(BaseModel):
    """
    The clients that match, in the order of the sheet.

    Schema: schemas/tools/sheets/search_clients.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    clients: Annotated[list[Client], Field(max_length=100)]
    """The first matches."""

    total: Annotated[int, Field(ge=0, le=10000000)]
    """Number of clients that match, including those not returned."""
