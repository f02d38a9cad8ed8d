# Generated from schemas/tools/entities/conversations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 71a4758fabe48ddaee35e340ba092f74; generator 1

"""Conversations.

List the conversations between client, operator and gateway, the last changed first, page by page.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ConversationsInput(BaseModel):
    """
    Which of the conversations to list.

    Schema: schemas/tools/entities/conversations.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_thread_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """
    Only rows with this: Avinode's id of the thread; the quote's id where Avinode names no
    thread.
    """

    request_id: str | None = None
    """Only rows with this: the request that it is about."""

    quote_id: str | None = None
    """Only rows with this: the quote that it is about."""

    operator_profile_id: str | None = None
    """Only rows with this: the operator who takes part."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """The most rows of one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Where the page begins: next_cursor of the page before, with the same filters."""


class Item(BaseModel):
    """A thread between the client's broker and an operator, in which the gateway speaks too."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """The row's id: a UUIDv5 of its kind and key."""

    avinode_thread_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the thread; the quote's id where Avinode names no thread."""

    request_id: str | None = None
    """The request that it is about."""

    quote_id: str | None = None
    """The quote that it is about."""

    operator_profile_id: str | None = None
    """The operator who takes part."""

    last_message_at: str | None = None
    """When the last message was sent."""

    webhook_id: str
    """The message that wrote the row last."""

    occurred_at: str
    """When the latest change in the row happened."""

    created_at: str
    """When the row was first written."""

    updated_at: str
    """When the row was written last."""


class ConversationsOutput(BaseModel):
    """
    One page of the conversations.

    Schema: schemas/tools/entities/conversations.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, the last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Where the next page begins; null when there is none."""
