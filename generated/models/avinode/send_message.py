# Generated from schemas/tools/avinode/send_message.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 695fa065b3f9fc43bad062a35173f22e; generator 1

"""Send a message to an operator.

Send a message to an operator in an existing thread.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier


class SendMessageInput(BaseModel):
    """
    The thread and the message.

    Schema: schemas/tools/avinode/send_message.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    thread_id: Identifier
    """Id of the thread: the id of a request for proposal, or of one operator's response to it."""

    message: Annotated[str, Field(max_length=4000, min_length=1)]
    """Plain text of the message."""


class SendMessageOutput(BaseModel):
    """
    The message that was sent.

    Schema: schemas/tools/avinode/send_message.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    message_id: Identifier
    """Id of the message."""

    thread_id: Identifier
    """Id of the thread."""

    sent_at: str
    """Time of sending, RFC 3339 in UTC."""
