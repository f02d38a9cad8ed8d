# Generated from schemas/entities/conversations.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c9cfdb0ce937861310d51614ae73afa8; generator 1

"""A row of conversations."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Conversations(BaseModel):
    """
    A thread between the client's broker and an operator, in which the gateway speaks too.

    Schema: schemas/entities/conversations.json
    """

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
