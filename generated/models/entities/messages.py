# Generated from schemas/tools/entities/messages.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4b91e27a46015a6c935ddd801c31c459; generator 1

"""Messages.

List what was said in conversations, the last changed first, page by page.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class MessagesInput(BaseModel):
    """
    Which of the messages to list.

    Schema: schemas/tools/entities/messages.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    conversation_id: str | None = None
    """Only rows with this: the conversation that it belongs to."""

    content_type: Literal["text", "quote_shared"] | None = None
    """Only rows with this: `text`: somebody wrote. `quote_shared`: the gateway reports a quote."""

    sender_type: Literal["operator", "buyer", "system"] | None = None
    """Only rows with this: who speaks."""

    quote_id: str | None = None
    """Only rows with this: the quote that it is about."""

    source_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """Only rows with this: Avinode's id of the message; for `quote_shared` that of the quote."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """The most rows of one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Where the page begins: next_cursor of the page before, with the same filters."""


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


class Item(BaseModel):
    """What was said in a conversation."""

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


class MessagesOutput(BaseModel):
    """
    One page of the messages.

    Schema: schemas/tools/entities/messages.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, the last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Where the next page begins; null when there is none."""
