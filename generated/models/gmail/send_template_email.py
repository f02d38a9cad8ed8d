# Generated from schemas/tools/gmail/send_template_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 892afdf429f904e6ab91300b68ea9b37; generator 1

"""Send an email from a template.

Send an email that one of the templates makes of the variables given, in HTML and in plain text.
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
    The template, what to fill in, and whom the mail is for.

    Schema: schemas/tools/gmail/send_template_email.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    to: Address
    """The recipient's address."""

    template_name: Literal[
        "flight_proposal", "booking_confirmation", "payment_receipt", "follow_up"
    ]
    """Which template."""

    template_data: FlightProposal | BookingConfirmation | PaymentReceipt | FollowUp
    """
    The variables of the template: all that it needs, and no others. Which those are follows
    from `template_name`.
    """

    attachments: Annotated[list[Attachment] | None, Field(max_length=50)] = None
    """Files to send along."""


class SendTemplateEmailOutput(BaseModel):
    """
    The mail that was sent.

    Schema: schemas/tools/gmail/send_template_email.output.json
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

    subject: Subject
    """The subject that the template made."""

    sent_at: str
    """When it was sent, RFC 3339 in UTC."""

    status: Literal["sent"]
    """The state of the mail."""

    recipients: Recipients
    """Whom it was sent to."""
