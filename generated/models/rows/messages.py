# Generated from schemas/entities/messages.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1263e76afb26e5ae8b4325fa01d186e9; generator 1

"""A row of messages."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class RichContent(BaseModel):
    """Structured content that a chat shows instead of text."""

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["quote_shared"]
    """Kind of content."""

    quote_id: str
    """Id of the quote."""

    operator_name: Annotated[str, Field(max_length=200)]
    """Name of the operator."""

    aircraft_type: Annotated[str, Field(max_length=100)]
    """Type of the offered aircraft."""

    price: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in `currency`."""

    currency: Annotated[str | None, Field(pattern="^[A-Z]{3}$")] = None
    """ISO 4217 code of the quote's currency."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Total price, in US dollars; null if the quote has another currency."""


class Messages(BaseModel):
    """
    A message in a conversation.

    Schema: schemas/entities/messages.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    content_type: Literal["text", "quote_shared"]
    """`text`: written by a person. `quote_shared`: the gateway reports a quote."""

    source_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the message; for `quote_shared`, Avinode's id of the quote."""

    conversation_id: str | None = None
    """Id of the row in conversations."""

    sender_type: Literal["operator", "buyer", "system"] | None = None
    """Kind of the sender."""

    sender_name: Annotated[str | None, Field(max_length=200)] = None
    """Name of the sender."""

    body: Annotated[str | None, Field(max_length=5000)] = None
    """Text of the message."""

    sent_at: str | None = None
    """Time of sending."""

    quote_id: str | None = None
    """Id of the row in quotes."""

    rich_content: RichContent | None = None
    """Structured content that a chat shows instead of text."""

    webhook_id: str
    """Id of the message that last wrote the row."""

    occurred_at: str
    """When the last change in the row happened."""

    created_at: str
    """When the gateway first wrote the row."""

    updated_at: str
    """When the gateway last wrote the row."""
