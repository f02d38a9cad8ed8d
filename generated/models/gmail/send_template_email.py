# Generated from schemas/tools/gmail/send_template_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8a423bfdc38c37aef2a13cfdb45ca134; generator 1

"""Send an email from a template.

Send an email made from a template and its variables, in HTML and plain text.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.identifiers import Identifier
from generated.models.common.mail import Address, Attachment, Recipients, RfcMessageId, Subject
from generated.models.common.mail_templates import (
    BookingConfirmation,
    FlightProposal,
    FollowUp,
    PaymentReceipt,
)


class SendTemplateEmailInput(BaseModel):
    """
    The template, its variables and the recipient.

    Schema: schemas/tools/gmail/send_template_email.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Address
    """Address of the recipient."""

    template_name: Literal[
        "flight_proposal", "booking_confirmation", "payment_receipt", "follow_up"
    ]
    """Name of the template."""

    template_data: FlightProposal | BookingConfirmation | PaymentReceipt | FollowUp
    """
    The variables of the template. `template_name` determines which ones are required and
    allowed.
    """

    attachments: Annotated[list[Attachment] | None, Field(max_length=50)] = None
    """Files to attach."""


class SendTemplateEmailOutput(BaseModel):
    """
    The mail that was sent.

    Schema: schemas/tools/gmail/send_template_email.output.json
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

    subject: Subject
    """Subject, made from the template."""

    sent_at: str
    """When it was sent, RFC 3339 in UTC."""

    status: Literal["sent"]
    """Status of the mail."""

    recipients: Recipients
    """Addresses of the recipients."""
