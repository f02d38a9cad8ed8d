# Generated from schemas/tools/gmail/create_draft.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0b0fb00c2a3c4b362c369494eef69157; generator 1

"""Create a draft.

Create a draft of an email in this gateway's mailbox. A person can review and send it.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.mail import Address, Attachment, Body, Recipients, Subject


class CreateDraftInput(BaseModel):
    """
    The mail and its recipients.

    Schema: schemas/tools/gmail/create_draft.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Address
    """Address of the recipient."""

    subject: Subject
    """Subject, in one line."""

    body: Body
    """Text of the mail, in the format that `body_type` names."""

    body_type: Literal["html", "text"] = "html"
    """Format of the text: HTML or plain text."""

    cc: Annotated[list[Address], Field(max_length=100)] = []
    """Addresses that receive a copy."""

    bcc: Annotated[list[Address], Field(max_length=100)] = []
    """Addresses that receive a copy, hidden from the other recipients."""

    attachments: Annotated[list[Attachment] | None, Field(max_length=50)] = None
    """Files to attach."""

    reply_to: Address | None = None
    """Address for replies, if it is not the sender's."""


class CreateDraftOutput(BaseModel):
    """
    The draft that was created.

    Schema: schemas/tools/gmail/create_draft.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    draft_id: Identifier
    """Gmail's id of the draft."""

    message_id: Identifier
    """Gmail's id of the mail in the draft, for `get_email`."""

    thread_id: Identifier
    """Gmail's id of the thread."""

    created_at: str
    """When it was created, RFC 3339 in UTC."""

    status: Literal["draft"]
    """Status of the mail."""

    recipients: Recipients
    """The recipients."""
