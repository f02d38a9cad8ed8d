"""A mail in Gmail's form: the tree of its parts, with decoded headers and bodies."""

import base64
import html
import re
from collections.abc import Collection, Iterator
from email.message import EmailMessage
from typing import Any, Final

_SNIPPET: Final = 200
_TAG: Final = re.compile("<[^<>]*>")


def payload(part: EmailMessage, part_id: str = "") -> dict[str, Any]:
    """A part with all its parts. The content of files needs a separate request."""
    shown: dict[str, Any] = {
        "partId": part_id,
        "mimeType": part.get_content_type(),
        "filename": part.get_filename() or "",
        "headers": [{"name": name, "value": str(value)} for name, value in part.items()],
    }
    if part.is_multipart():
        prefix = f"{part_id}." if part_id else ""
        shown["body"] = {"size": 0}
        shown["parts"] = [
            payload(child, f"{prefix}{index}") for index, child in enumerate(_children(part))
        ]
    else:
        shown["body"] = _body(part, part_id)
    return shown


def with_headers(shown: dict[str, Any], names: Collection[str] | None) -> dict[str, Any]:
    """Only the headers of a payload; only those in `names`, if it is given."""
    wanted = {name.lower() for name in names or ()}
    headers = [
        header for header in shown["headers"] if not wanted or header["name"].lower() in wanted
    ]
    return {"partId": shown["partId"], "mimeType": shown["mimeType"], "headers": headers}


def snippet(mail: EmailMessage) -> str:
    """The beginning of the text, escaped as in HTML."""
    text = " ".join(_text(mail).split())[:_SNIPPET]
    return html.escape(text, quote=False).replace("'", "&#39;").replace('"', "&quot;")


def _body(part: EmailMessage, part_id: str) -> dict[str, Any]:
    content = _content(part)
    if part.get_filename():
        return {"attachmentId": f"ANGjdJ-{part_id or '0'}", "size": len(content)}
    return {"size": len(content), "data": base64.urlsafe_b64encode(content).decode("ascii")}


def _content(part: EmailMessage) -> bytes:
    """The bytes of a part. Text is converted to UTF-8."""
    if part.get_content_maintype() == "text" and not part.get_filename():
        return str(part.get_content(errors="replace")).encode()
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain", "html"))
    if body is None:
        return ""
    text = str(body.get_content(errors="replace"))
    is_html = body.get_content_subtype() == "html"
    return html.unescape(_TAG.sub(" ", text)) if is_html else text


def _children(part: EmailMessage) -> Iterator[EmailMessage]:
    return (child for child in part.iter_parts() if isinstance(child, EmailMessage))
