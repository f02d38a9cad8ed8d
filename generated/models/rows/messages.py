# Generated from schemas/entities/messages.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2547ea95494a2c68b0d89461536d5730; generator 1

"""A row of messages."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class RichContent(BaseModel):
    """What a chat shows in place of a text."""

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["quote_shared"]
    """What is shown."""

    quote_id: str
    """The quote."""

    operator_name: Annotated[str, Field(max_length=200)]
    """The operator's name."""

    aircraft_type: Annotated[str, Field(max_length=100)]
    """The type of the offered aircraft."""

    price_usd: Annotated[int | float | None, Field(ge=0.0, le=1000000000.0)] = None
    """Price with everything, in US dollars; null where the quote has another currency."""


class Messages(BaseModel):
    """
    What was said in a conversation.

    Schema: schemas/entities/messages.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    content_type: Literal["text", "quote_shared"]
    """`text`: somebody wrote. `quote_shared`: the gateway reports a quote."""

    source_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the message; for `quote_shared` that of the quote."""

    conversation_id: str | None = None
    """The conversation that it belongs to."""

    sender_type: Literal["operator", "buyer", "system"] | None = None
    """Who speaks."""

    sender_name: Annotated[str | None, Field(max_length=200)] = None
    """The sender's name."""

    body: Annotated[str | None, Field(max_length=5000)] = None
    """What was written."""

    sent_at: str | None = None
    """When it was sent."""

    quote_id: str | None = None
    """The quote that it is about."""

    rich_content: RichContent | None = None
    """What a chat shows in place of a text."""

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When the latest change in the row happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""
