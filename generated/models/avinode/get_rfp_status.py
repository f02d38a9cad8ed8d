# Generated from schemas/tools/avinode/get_rfp_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d4d543e37169211f8bc1b14f122a295e; generator 1

"""Get the status of a request for proposal.

Get the number of operators that have responded to a request for proposal and, on request, their
quotes.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Quote
from generated.models.common.identifiers import Identifier


class GetRfpStatusInput(BaseModel):
    """
    The request for proposal, and whether to include its quotes.

    Schema: schemas/tools/avinode/get_rfp_status.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Id of the request for proposal, from `create_rfp`."""

    include_quotes: bool = False
    """Whether to include the quotes."""


class GetRfpStatusOutput(BaseModel):
    """
    The status of the request for proposal.

    Schema: schemas/tools/avinode/get_rfp_status.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Id of the request for proposal."""

    status: Literal["open", "closed", "expired", "cancelled"]
    """
    `open`: operators may still respond. `closed`: all have. `expired`: the deadline is over,
    and the pending ones respond no more. `cancelled`: the request was withdrawn.
    """

    total_operators: Annotated[int, Field(ge=0)]
    """Number of operators that received the request."""

    quoted: Annotated[int, Field(ge=0)]
    """Number of operators that have quoted."""

    declined: Annotated[int, Field(ge=0)]
    """Number of operators that have declined."""

    pending: Annotated[int, Field(ge=0)]
    """Number of operators that have not responded yet."""

    created_at: str
    """Creation time, RFC 3339 in UTC."""

    deadline: str | None = None
    """Deadline for quotes, RFC 3339 in UTC."""

    quotes: Annotated[list[Quote], Field(max_length=100)]
    """
    The quotes so far, each in its currency and in US dollars; empty unless `include_quotes`
    is true.
    """
