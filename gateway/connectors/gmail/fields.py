"""Field functions of the tools of the connector `gmail` that write mails."""

from collections.abc import Mapping
from typing import Any

from gateway.connectors.gmail.mime import Attachment, Mail, encoded, mail_bytes, message_id
from gateway.connectors.gmail.rendering import render, subject_of
from gateway.contract.connector import mapping_function
from gateway.errors import InvalidArguments

__all__ = ["mail_raw", "message_id", "template_raw", "template_subject"]


@mapping_function
def mail_raw(arguments: Mapping[str, Any], call_id: str, now: str) -> str:
    """The mail of `send_email` and `create_draft` in Gmail's form: base64url.

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


@mapping_function
def template_raw(arguments: Mapping[str, Any], call_id: str, now: str) -> str:
    """The mail made from a template, in Gmail's form: base64url.

    Raises `InvalidArguments`.
    """
    _check_count(arguments["template_data"])
    made = render(arguments["template_name"], arguments["template_data"])
    mail = Mail(
        to=arguments["to"],
        subject=made.subject,
        text=made.text,
        html=made.html,
        attachments=_attachments(arguments),
    )
    return encoded(mail_bytes(mail, call_id, now))


@mapping_function
def template_subject(name: str, variables: Mapping[str, Any]) -> str:
    """The subject of the mail made from a template."""
    return subject_of(name, variables)


def _check_count(data: Mapping[str, Any]) -> None:
    """Raise `InvalidArguments` if a proposal says another number of options than it lists."""
    listed = len(data.get("aircraft", ()))
    if data.get("proposal_count", listed) != listed:
        detail = f"must be {listed}, the number of items of aircraft"
        raise InvalidArguments.at("/template_data/proposal_count", "const", detail)


def _attachments(arguments: Mapping[str, Any]) -> tuple[Attachment, ...]:
    return tuple(Attachment(**file) for file in arguments.get("attachments", ()))
