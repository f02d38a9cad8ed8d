# Generated from schemas/tools/avinode/get_quote_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5dc7c8c431c2501c91aef73725506d9; generator 1

"""Get the status of quotes.

Get the number of operators that have quoted for or declined a request for proposal, and their
response times.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class GetQuoteStatusInput(BaseModel):
    """
    The request for proposal.

    Schema: schemas/tools/avinode/get_quote_status.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Id of the request for proposal, from `create_rfp`."""


class GetQuoteStatusOutput(BaseModel):
    """
    The number of operators that have responded, and their response times.

    Schema: schemas/tools/avinode/get_quote_status.output.json
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

    responded: Annotated[int, Field(ge=0)]
    """Number of operators that have responded, with a quote or a refusal."""

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

    first_response_time_minutes: Annotated[int | None, Field(ge=0)] = None
    """Whole minutes until the first response; absent until there is one."""

    average_response_time_minutes: Annotated[int | None, Field(ge=0)] = None
    """Mean response time in whole minutes; absent until there is a response."""
