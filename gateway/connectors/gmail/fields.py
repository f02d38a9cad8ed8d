"""Field functions of the tools of the connector `gmail` that write mails.

Mails are also made from the templates beside this module: HTML, plain text and subject of each.
Values are always data: they are escaped in HTML, limited to one line in the subject, and never read
as part of a template.
"""

from collections.abc import Mapping
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gateway.connectors.gmail.mime import Attachment, Mail, encoded, mail_bytes, message_id
from gateway.contract.connector import mapping_function
from gateway.errors import InvalidArguments

__all__ = ["mail_raw", "message_id", "template_raw", "template_subject"]

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_FOLDER: Final = Path(__file__).parent / "templates"
_CENT: Final = Decimal("0.01")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
"""In English for every locale of the process."""
_UNSEEN: Final = dict.fromkeys(
    [
        *(code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in {0x09, 0x0A}),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
)
"""Control characters and direction marks, which are removed."""


class Rendered(Struct, frozen=True):
    """A rendered template."""

    subject: str
    text: str
    html: str


def render(template: str, variables: Mapping[str, Any]) -> Rendered:
    """The mail made from `template`. Raises `jinja2.UndefinedError` for a missing variable."""
    return Rendered(
        subject=subject_of(template, variables),
        text=_filled(f"{template}.txt", variables),
        html=_filled(f"{template}.html", variables),
    )


def subject_of(template: str, variables: Mapping[str, Any]) -> str:
    """The subject made from `template`, in one line."""
    return " ".join(_filled(f"{template}.subject.txt", variables).split())


def _filled(name: str, variables: Mapping[str, Any]) -> str:
    return _environment().get_template(name).render(variables)


def _value(value: Any) -> Any:
    """The value of a variable: 20.0 becomes 20, and control characters are removed."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.translate(_UNSEEN) if isinstance(value, str) else value


def _day(text: str) -> str:
    """`2026-12-01` as `1 December 2026`."""
    day = date.fromisoformat(str(text))  # raises for a missing variable
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _dollars(amount: float) -> str:
    """`$48,200`, or `$48,200.50` if there are cents."""
    cents = Decimal(str(amount)).quantize(_CENT, ROUND_HALF_EVEN)
    return f"${cents:,.2f}".removesuffix(".00")


def _counted(count: float, one: str, many: str) -> str:
    return f"{int(count)} {one if count == 1 else many}"


def _options(count: float) -> str:
    return _counted(count, "option", "options")


def _passengers(count: float) -> str:
    return _counted(count, "passenger", "passengers")


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    from jinja2 import (  # noqa: PLC0415 - most starts send no mail
        FileSystemLoader,
        StrictUndefined,
        select_autoescape,
    )
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415 - with jinja2

    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        finalize=_value,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(day=_day, dollars=_dollars, options=_options, passengers=_passengers)
    return environment


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
