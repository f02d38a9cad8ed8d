# Generated from schemas/tools/avinode/send_message.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6be635033297685ca818f56f22705c0; generator 1

"""Send a message to an operator.

Send a message to an operator in an existing thread.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class SendMessageInput(BaseModel):
    """
    To whom, and what.

    Schema: schemas/tools/avinode/send_message.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    thread_id: Identifier
    """The thread's id: the id of a request for proposal, or of one of its operators' answers."""

    message: Annotated[str, Field(max_length=4000, min_length=1)]
    """The message, as plain text."""


class SendMessageOutput(BaseModel):
    """
    The message that was sent.

    Schema: schemas/tools/avinode/send_message.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    message_id: Identifier
    """The message's id."""

    thread_id: Identifier
    """The thread it is part of."""

    sent_at: str
    """When it was sent, RFC 3339 in UTC."""
