# Generated from schemas/entities/conversations.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a474943c971dde5f194b97e6b3620aec; generator 1

"""A row of conversations."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Conversations(BaseModel):
    """
    A thread between the client's broker and an operator. The gateway also posts in it.

    Schema: schemas/entities/conversations.json
    """

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
