# Generated from schemas/tools/avinode/get_rfp_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ac14b40d1f464a028c4841fa6108d73d; generator 1

"""Get the status of a request for proposal.

Get how many operators have answered a request for proposal, and their quotes if asked.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Quote
from generated.models.common.identifiers import Identifier


class GetRfpStatusInput(BaseModel):
    """
    Which request, and whether with its quotes.

    Schema: schemas/tools/avinode/get_rfp_status.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id, as `create_rfp` answered it."""

    include_quotes: bool = False
    """Whether to answer the quotes too."""


class GetRfpStatusOutput(BaseModel):
    """
    How the request for proposal stands.

    Schema: schemas/tools/avinode/get_rfp_status.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id."""

    total_operators: Annotated[int, Field(ge=0)]
    """How many operators were asked."""

    quoted: Annotated[int, Field(ge=0)]
    """How many of them have quoted."""

    declined: Annotated[int, Field(ge=0)]
    """How many of them have declined."""

    pending: Annotated[int, Field(ge=0)]
    """How many of them have not answered yet."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""

    deadline: str | None = None
    """Until when operators may quote, RFC 3339 in UTC."""

    quotes: Annotated[list[Quote], Field(max_length=100)]
    """The quotes in US dollars so far; empty unless they were asked for."""
