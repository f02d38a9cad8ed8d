# Generated from schemas/entities/conversations.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 226f4d783cb4e7ad3fab80218cd36fcf; generator 1

"""Conversations.

List the conversations between client, operator and gateway, last changed first, in pages.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ConversationsInput(BaseModel):
    """
    Filters and page.

    Schema: schemas/entities/conversations.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    avinode_thread_id: Annotated[
        str | None, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")
    ] = None
    """
    Only the conversation with this Avinode thread id, or this Avinode quote id if Avinode
    names no thread.
    """

    request_id: str | None = None
    """Only conversations about this request (row id)."""

    quote_id: str | None = None
    """Only conversations about this quote (row id)."""

    operator_profile_id: str | None = None
    """Only conversations with this operator (row id)."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    """Maximum number of rows in one page."""

    cursor: Annotated[str | None, Field(max_length=300, min_length=1)] = None
    """Start of the page: `next_cursor` of the previous page. Keep the same filters."""


class Item(BaseModel):
    """A thread between the client's broker and an operator. The gateway also posts in it."""

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """Id of the row: a UUIDv5 of its kind and key."""

    avinode_thread_id: Annotated[str, Field(max_length=64, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    """Avinode's id of the thread, or of the quote if Avinode names no thread."""

    request_id: str | None = None
    """Id of the row in requests."""

    quote_id: str | None = None
    """Id of the row in quotes."""

    operator_profile_id: str | None = None
    """Id of the operator's row in operator_profiles."""

    last_message_at: str | None = None
    """Time of the last message."""

    webhook_id: str
    """Id of the message that last wrote the row."""

    occurred_at: str
    """When the last change in the row happened."""

    created_at: str
    """When the gateway first wrote the row."""

    updated_at: str
    """When the gateway last wrote the row."""


class ConversationsOutput(BaseModel):
    """
    One page of the conversations.

    Schema: schemas/entities/conversations.json#/x-entity/tools/list
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    items: Annotated[list[Item], Field(max_length=200)]
    """The rows, last changed first."""

    next_cursor: Annotated[str | None, Field(max_length=300)]
    """Cursor of the next page; null if this is the last page."""
