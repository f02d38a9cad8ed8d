"""The tree of parts in which Gmail shows a message (`users.messages`, format `full`).

The mail is untrusted input. Invalid parts count as missing, and every step takes time in proportion
to the size of the mail.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from typing import Any, Final

from gateway.connectors.gmail.html import html_text
from gateway.contract.fields.fieldmap import Unmappable

Part = Mapping[str, Any]
MAX_PARTS: Final = 1000
_CHARSET: Final = re.compile(
    r"(?:us-ascii|utf-|iso-|windows-|koi8-|gb|big5|euc-|shift_jis|hz-gb)[a-z0-9_-]{0,20}"
)
"""Accepted charsets. Python has more codecs: some are not charsets, and some are slow."""
_MAX_CONTENT_TYPE: Final = 1_000
_SHIFTS: Final[Mapping[str, str]] = {"iso-2022": "\x1b", "hz": "~{", "utf-16": "\0", "utf-32": "\0"}
"""What only text in these charsets has. Its bytes may be valid UTF-8 as well."""


def header_values(part: Part, name: str) -> list[str]:
    """The values of all headers with this name, in the order of the mail."""
    return [
        header["value"]
        for header in _members(part.get("headers"))
        if text_member(header, "name").lower() == name and isinstance(header.get("value"), str)
    ]


def files(part: Part) -> Iterator[Part]:
    """The parts with a file name."""
    return (each for each in _walk(part) if text_member(each, "filename"))


def text_member(part: Part, name: str) -> str:
    """A member that should be text; empty if it is not."""
    value = part.get(name)
    return value if isinstance(value, str) else ""


def whole_characters(text: str) -> str:
    """`text` without lone surrogates. Some charsets produce them, and JSON cannot contain them."""
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(part: Part) -> str:
    """The plain text of the mail, or the text of its HTML if it has no plain text.

    Raises `Unmappable` if the text is not base64url.
    """
    plain = _texts(part, "plain")
    html = _texts(part, "html")
    # Where Gmail keeps the plain text back, that of the HTML may still be there.
    if plain and not (any(map(_is_kept_back, plain)) and html):
        return "\n".join(map(_content, plain)).rstrip()
    return "\n".join(html_text(_content(each)) for each in html)


def is_text_kept_back(part: Part) -> bool:
    """Whether Gmail sends a part of the text only as an attachment, so that `text_of` lacks it."""
    plain, html = _texts(part, "plain"), _texts(part, "html")
    read = html if html and (not plain or any(map(_is_kept_back, plain))) else plain
    return any(map(_is_kept_back, read))


def decoded(data: str) -> bytes:
    """The bytes of base64url (RFC 4648 §5), with or without padding. Raises `ValueError`."""
    bare = data.rstrip("=")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)


def _walk(part: Part) -> Iterator[Part]:
    """`part` and all parts in it, in reading order; at most `MAX_PARTS`."""
    waiting: list[Part] = [part]
    for _ in range(MAX_PARTS):
        if not waiting:
            return
        current = waiting.pop()
        yield current
        waiting.extend(reversed(_members(current.get("parts"))))


def _is_text(part: Part, subtype: str) -> bool:
    mime_type = text_member(part, "mimeType").lower()
    return mime_type == f"text/{subtype}" and not text_member(part, "filename")


def _texts(part: Part, subtype: str) -> list[Part]:
    return [each for each in _walk(part) if _is_text(each, subtype)]


def _is_kept_back(part: Part) -> bool:
    body = part.get("body")
    has_id = isinstance(body, Mapping) and bool(text_member(body, "attachmentId"))
    return has_id and not text_member(body or {}, "data")


def _content(part: Part) -> str:
    body = part.get("body")
    data = text_member(body, "data") if isinstance(body, Mapping) else ""
    try:
        content = decoded(data)
    except ValueError:
        raise Unmappable("/payload", "holds a body that is not base64url") from None
    return _characters(content, part).replace("\r\n", "\n")


def _characters(content: bytes, part: Part) -> str:
    """Decode UTF-8, otherwise the charset of the part: Gmail does not always convert to UTF-8."""
    charset = _charset(part)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    shift = next((sign for name, sign in _SHIFTS.items() if charset.startswith(name)), None)
    if text is not None and (shift is None or shift not in text):
        return text
    try:
        return whole_characters(content.decode(charset, "replace"))
    except (LookupError, ValueError):  # a charset that Python does not support
        return content.decode("latin-1") if text is None else text


def _charset(part: Part) -> str:
    """The charset that the part names, in lower case; `latin-1` if it is none."""
    header = Message()
    header["content-type"] = next(iter(header_values(part, "content-type")), "")[:_MAX_CONTENT_TYPE]
    charset = header.get_content_charset("")
    return charset if _CHARSET.fullmatch(charset) else "latin-1"


def _members(value: Any) -> Sequence[Part]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
