# Generated from schemas/tools/gmail/send_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c144aea1cbca156c0cc3d72843f50463; generator 1

"""Send an email.

Send an email from this gateway's account, optionally with copies and attachments.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.mail import (
    Address,
    Attachment,
    Body,
    Recipients,
    RfcMessageId,
    Subject,
)


class SendEmailInput(BaseModel):
    """
    The mail and its recipients.

    Schema: schemas/tools/gmail/send_email.input.json
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


class SendEmailOutput(BaseModel):
    """
    The mail that was sent.

    Schema: schemas/tools/gmail/send_email.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    message_id: Identifier
    """Gmail's id of the mail, for `get_email`."""

    thread_id: Identifier
    """Gmail's id of the thread, for `get_thread_history`."""

    rfc_message_id: RfcMessageId
    """The Message-ID with which the mail was sent. Gmail may replace it."""

    sent_at: str
    """When it was sent, RFC 3339 in UTC."""

    status: Literal["sent"]
    """Status of the mail."""

    recipients: Recipients
    """Addresses of the recipients."""
