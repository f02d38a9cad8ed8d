# Generated from schemas/tools/gmail/send_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 598b606608bf344d3c5e46ce28413140; generator 1

"""Send an email.

Send an email from the account of this gateway, with copies and files if there are any.
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
    The mail, and whom it is for.

    Schema: schemas/tools/gmail/send_email.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Address
    """The recipient's address."""

    subject: Subject
    """The subject, in one line."""

    body: Body
    """The text of the mail, in the form that `body_type` says."""

    body_type: Literal["html", "text"] = "html"
    """Whether the text is HTML or plain."""

    cc: Annotated[list[Address], Field(max_length=100)] = []
    """Who gets a copy."""

    bcc: Annotated[list[Address], Field(max_length=100)] = []
    """Who gets a copy that the others do not see."""

    attachments: Annotated[list[Attachment] | None, Field(max_length=50)] = None
    """Files to send along."""

    reply_to: Address | None = None
    """Where answers go, if not to the sender."""


class SendEmailOutput(BaseModel):
    """
    The mail that was sent.

    Schema: schemas/tools/gmail/send_email.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    message_id: Identifier
    """Gmail's id of the mail, which `get_email` takes."""

    thread_id: Identifier
    """Gmail's id of its thread, which `get_thread_history` takes."""

    rfc_message_id: RfcMessageId
    """The Message-ID that the mail was sent with. Gmail may replace it."""

    sent_at: str
    """When it was sent, RFC 3339 in UTC."""

    status: Literal["sent"]
    """The state of the mail."""

    recipients: Recipients
    """Whom it was sent to."""
