# Generated from schemas/entities/quotes.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 68dc8f597103125f831b45f7d2bc5785; generator 1

"""A row of quotes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Quotes(BaseModel):
    """
    What an operator asks for a flight.

    Schema: schemas/entities/quotes.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_quote_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the quote."""

    avinode_rfp_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the request for proposal that it answers."""

    request_id: str | None = None
    """The request that it answers."""

    operator_profile_id: str | None = None
    """The operator who quotes."""

    status: Literal["received", "accepted", "rejected", "expired"] | None = None
    """Where the quote stands."""

    aircraft_type: Annotated[str | None, Field(max_length=100)] = None
    """The type of the offered aircraft, such as Citation X."""

    aircraft_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Avinode's id of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in the quote's currency."""

    currency: Annotated[str | None, Field(max_length=3, pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the quote's currency."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; null where the quote has another currency."""

    base_price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price before taxes and fees, in the quote's currency."""

    taxes_fees: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Taxes and fees, in the quote's currency."""

    valid_until: str | None = None
    """When the quote lapses."""

    notes: Annotated[str | None, Field(max_length=4000)] = None
    """What the operator adds in words."""

    rejection_reason: Annotated[str | None, Field(max_length=2000)] = None
    """Why the quote was rejected."""

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When what the row tells last had happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""
