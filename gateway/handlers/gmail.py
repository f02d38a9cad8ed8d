"""Field functions of the tools of the connector `gmail` that write mails."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from gateway.contract.pointers import child
from gateway.contract.violation import Violation
from gateway.errors import InvalidArguments
from gateway.handlers.gmail_mime import Attachment, Mail, encoded, mail_bytes, message_id
from gateway.handlers.gmail_rendering import render, subject_of
from generated.models.common.mail_templates import (
    BookingConfirmation,
    FlightProposal,
    FollowUp,
    PaymentReceipt,
)

__all__ = ["mail_raw", "message_id", "template_raw", "template_subject"]

_VARIABLES: Final[Mapping[str, type[BaseModel]]] = {
    "booking_confirmation": BookingConfirmation,
    "flight_proposal": FlightProposal,
    "follow_up": FollowUp,
    "payment_receipt": PaymentReceipt,
}
"""The model of each template's variables."""


def mail_raw(arguments: Mapping[str, Any], call_id: str, now: str) -> str:
    """The mail that `send_email` and `create_draft` describe, as Gmail takes it: base64url.

    Raises `InvalidArguments`.
    """
    body, is_text = arguments["body"], arguments.get("body_type") == "text"
    mail = Mail(
        to=arguments["to"],
        subject=arguments["subject"],
        text=body if is_text else None,
        html=None if is_text else body,
        cc=arguments.get("cc", ()),
        bcc=arguments.get("bcc", ()),
        reply_to=arguments.get("reply_to"),
        attachments=_attachments(arguments),
    )
    return encoded(mail_bytes(mail, call_id, now))


def template_raw(arguments: Mapping[str, Any], call_id: str, now: str) -> str:
    """The mail that a template makes, as Gmail takes it: base64url.

    Raises `InvalidArguments`, also for variables of another template than the one named.
    """
    name, variables = arguments["template_name"], arguments["template_data"]
    misplaced = list(_misplaced(_VARIABLES[name], variables))
    if misplaced:
        raise InvalidArguments(misplaced)
    made = render(name, variables)
    mail = Mail(
        to=arguments["to"],
        subject=made.subject,
        text=made.text,
        html=made.html,
        attachments=_attachments(arguments),
    )
    return encoded(mail_bytes(mail, call_id, now))


def template_subject(name: str, variables: Mapping[str, Any]) -> str:
    """The subject of the mail that a template makes."""
    return subject_of(name, variables)


def _attachments(arguments: Mapping[str, Any]) -> tuple[Attachment, ...]:
    return tuple(Attachment(**file) for file in arguments.get("attachments", ()))


def _misplaced(model: type[BaseModel], variables: Mapping[str, Any]) -> Iterator[Violation]:
    """What the template lacks and what it does not know.

    The schema has judged the values: a variable of one name is the same in every template.
    """
    for name, field in model.model_fields.items():
        if field.is_required() and name not in variables:
            yield _violation(name, "required", "is required by this template")
    for name in variables:
        if name not in model.model_fields:
            yield _violation(name, "additionalProperties", "is not a variable of this template")


def _violation(name: str, keyword: str, detail: str) -> Violation:
    return Violation(pointer=child("/template_data", name), keyword=keyword, detail=detail)
