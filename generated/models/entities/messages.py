# Generated from schemas/entities/messages.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 41db64c29bef5a90672def0500f4fc9c; generator 1

"""Messages.

List the messages of conversations, last changed first, in pages.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class MessagesInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/messages.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    conversation_id: str | None = None
    """Only messages of this conversation (row id)."""

    content_type: Literal["text", "quote_shared"] | None = None
    """
    Only messages of this type. `text`: written by a person. `quote_shared`: the gateway
    reports a quote.
    """

    sender_type: Literal["operator", "buyer", "system"] | None = None
    """Only messages from this kind of sender."""

    quote_id: str | None = None
    """Only messages about this quote (row id)."""

    source_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only the message with this Avinode id; for `quote_shared`, the Avinode id of the quote."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


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


class Item(BaseModel):
    """A message in a conversation."""

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


class MessagesOutput(BaseModel):
    """
    One page of the messages.

    Schema: schemas/entities/messages.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
