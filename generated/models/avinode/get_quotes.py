# Generated from schemas/tools/avinode/get_quotes.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f5b6bae0ac43c0834ee9ec5726980e25; generator 1

"""Get the quotes for a request for proposal.

Get all quotes in US dollars that operators have given for a request for proposal.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Quote
from generated.models.common.identifiers import Identifier


class GetQuotesInput(BaseModel):
    """
    Which request.

    Schema: schemas/tools/avinode/get_quotes.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id, as `create_rfp` answered it."""


class GetQuotesOutput(BaseModel):
    """
    The quotes for the request so far.

    Schema: schemas/tools/avinode/get_quotes.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """The request's id."""

    quotes: Annotated[list[Quote], Field(max_length=100)]
    """The quotes in US dollars, in the order of the operators asked."""

    total: Annotated[int, Field(ge=0)]
    """How many quotes in US dollars there are."""
