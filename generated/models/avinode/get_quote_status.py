# Generated from schemas/tools/avinode/get_quote_status.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fd7c63deebd1e29bb2dc137b52ae6d1e; generator 1

"""Get the status of quotes.

Get how many operators have answered a request for proposal, and how fast.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class GetQuoteStatusInput(BaseModel):
    """
    Which request.

    Schema: schemas/tools/avinode/get_quote_status.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id, as `create_rfp` answered it."""


class GetQuoteStatusOutput(BaseModel):
    """
    How many operators have answered, and how fast.

    Schema: schemas/tools/avinode/get_quote_status.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id."""

    total_operators: Annotated[int, Field(ge=0)]
    """How many operators were asked."""

    responded: Annotated[int, Field(ge=0)]
    """How many of them have answered, with a quote or with a refusal."""

    pending: Annotated[int, Field(ge=0)]
    """How many of them have not answered yet."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""

    deadline: str | None = None
    """Until when operators may quote, RFC 3339 in UTC."""

    first_response_time_minutes: Annotated[int | None, Field(ge=0)] = None
    """Whole minutes until the first answer; left out while there is none."""

    average_response_time_minutes: Annotated[int | None, Field(ge=0)] = None
    """Mean time until an answer in whole minutes; left out while there is none."""
