# Generated from schemas/tools/avinode/get_quotes.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e325d5fdbfcf51f4d5633782059c8edf; generator 1

"""Get the quotes for a request for proposal.

Get all quotes that operators have given for a request for proposal, each in its currency and in US
dollars.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.aviation import Quote
from generated.models.common.identifiers import Identifier


class GetQuotesInput(BaseModel):
    """
    The request for proposal.

    Schema: schemas/tools/avinode/get_quotes.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Id of the request for proposal, from `create_rfp`."""


class GetQuotesOutput(BaseModel):
    """
    The quotes for the request so far.

    Schema: schemas/tools/avinode/get_quotes.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rfp_id: Identifier
    """Id of the request for proposal."""

    quotes: Annotated[list[Quote], Field(max_length=100)]
    """The quotes, in the order of the operators in the request."""

    total: Annotated[int, Field(ge=0)]
    """Number of quotes."""
