"""Values and content as text, and the characters that each part of a request may contain."""

import base64
import binascii
import json
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote, quote_plus

from msgspec import Struct

from gateway.contract.values import jsontext
from gateway.errors import InvalidArguments, MalformedRequest

# The characters that each part of a request may contain. The others are escaped or refused.

Escape = Callable[[str, str], str]
"""Gives the wire form of a text. The second argument is the JSON Pointer that errors name."""

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""The name of a header or a cookie (RFC 9110 §5.6.2)."""
_QUOTED: Final = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e]|\\[\t\x20-\x7e])*"'
MEDIA_TYPE: Final = re.compile(
    rf"{TOKEN.pattern}/{TOKEN.pattern}"
    rf"(?:[\t ]*;[\t ]*(?:{TOKEN.pattern}=(?:{TOKEN.pattern}|{_QUOTED}))?)*"
)
"""A media type with its parameters, as it may be sent (RFC 9110 §8.3.1)."""
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HEADER_TEXT: Final = re.compile(r"(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?")
"""Without blanks at the ends, because receivers remove these (RFC 9110 §5.5)."""
_COOKIE_OCTETS: Final = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
"""RFC 6265 §4.1.1."""
_QUERY_RESERVED: Final = "!$'()*;:@/?"
"""Reserved characters that mean themselves in a query. `#`, `[` and `]` may not occur there
(RFC 3986 §3.4), and `&`, `=` and `+` have a meaning in forms (OpenAPI 3.2, Appendix E)."""


class Escapes(Struct, frozen=True):
    """The escapes of one part of a request."""

    value: Escape
    item: Escape
    """For the items of a list or an object that are joined by commas."""
    name: Escape


def refusal(pointer: str, detail: str) -> InvalidArguments:
    """The error for an argument that the declared serialization cannot express."""
    return InvalidArguments.at(pointer, "serialization", detail)


def unusable(pointers: str) -> MalformedRequest:
    """The error for a segment of a path that nobody may send. `pointers`: the arguments in it."""
    where = f": {pointers}" if pointers else ""
    return MalformedRequest(
        "An argument cannot be used in the address of the upstream, because it is empty, a dot "
        f"segment or has control characters{where}."
    )


def percent(text: str, _pointer: str) -> str:
    """Everything but unreserved characters is percent-encoded (RFC 6570 §3.2.1)."""
    return quote(text, safe="")


def reserved(text: str, _pointer: str) -> str:
    """Reserved characters are kept (RFC 6570 §3.2.3), except those that would end the value.

    `%` is encoded, so that text such as `%41` is still `%41` after decoding.
    """
    return quote(text, safe=f"{_QUERY_RESERVED},")


def reserved_item(text: str, _pointer: str) -> str:
    """As `reserved`, but the comma is encoded."""
    return quote(text, safe=_QUERY_RESERVED)


def form_text(text: str, _pointer: str) -> str:
    """The serialization of `application/x-www-form-urlencoded` (WHATWG URL §5.2)."""
    return quote_plus(text, safe="*").replace("~", "%7E")


def path_text(text: str, pointer: str) -> str:
    """As `percent`. Raises `MalformedRequest` for control characters."""
    if CONTROL.search(text):
        raise MalformedRequest(f"A control character cannot be sent in an address: {pointer}.")
    return quote(text, safe="")


def header_text(text: str, pointer: str) -> str:
    """`text` itself: headers are not percent-encoded (OpenAPI 3.2, Parameter Object).

    Raises `MalformedRequest` if it is not printable ASCII, or has a blank at an end.
    """
    if not _HEADER_TEXT.fullmatch(text):
        raise MalformedRequest(
            f"A header must be printable ASCII without blanks at its ends: {pointer}."
        )
    return text


def cookie_text(text: str, pointer: str) -> str:
    """`text` itself. Raises `MalformedRequest` if it may not be the value of a cookie."""
    if not _COOKIE_OCTETS.fullmatch(text):
        raise MalformedRequest(
            "A cookie must be printable ASCII without blanks, quotes, commas, semicolons and "
            f"backslashes: {pointer}."
        )
    return text


def cookie_name(text: str, pointer: str) -> str:
    """`text` itself. Raises `MalformedRequest` if it may not be the name of a cookie."""
    if not TOKEN.fullmatch(text):
        raise MalformedRequest(f"This cannot be the name of a cookie: {pointer}.")
    return text


def plain(text: str, _pointer: str) -> str:
    """`text` itself."""
    return text


QUERY: Final = Escapes(percent, percent, percent)
RESERVED_QUERY: Final = Escapes(reserved, reserved_item, percent)
HEADER: Final = Escapes(header_text, header_text, header_text)
PATH: Final = Escapes(path_text, path_text, path_text)
FORM_COOKIE: Final = Escapes(percent, percent, cookie_name)
COOKIE: Final = Escapes(cookie_text, cookie_text, cookie_name)
PART: Final = Escapes(plain, plain, plain)
"""Text of a multipart body is not encoded (OpenAPI 3.2, Encoding Object)."""


# Primitive values as text (OpenAPI 3.2, Appendix B), content of a media type, and bytes.

OMIT: Final = "leave the member out if it is optional, or give it a value"


def text_of(value: Any, pointer: str) -> str:
    """`value` as JSON writes it, and a string without quotes.

    A number has no exponent, and a whole number no fraction, because many servers read neither.
    Raises `InvalidArguments` for null, lists and objects.
    """
    if type(value) is str:
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    if value is None:
        raise refusal(pointer, f"null cannot be sent here: {OMIT}")
    raise refusal(pointer, "a list or an object cannot be sent inside another value here")


def refuse_empty(value: list[Any] | dict[str, Any], pointer: str) -> None:
    """Raise `InvalidArguments` if `value` has no members: RFC 6570 §2.3 sends nothing for it."""
    if not value:
        kind = "list" if type(value) is list else "object"
        raise refusal(pointer, f"an empty {kind} cannot be sent here: {OMIT}")


def is_json(media_type: str) -> bool:
    """Whether `media_type` is JSON (RFC 6839 §3.1)."""
    essence = essence_of(media_type)
    return essence in {"application/json", "text/json"} or essence.endswith("+json")


def essence_of(media_type: str) -> str:
    """`media_type` in lower case without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def content_text(value: Any, media_type: str | None, pointer: str) -> str:
    """`value` serialized as `media_type`.

    None is the default of the Encoding Object: JSON for lists and objects, else plain text.
    Raises `InvalidArguments`.
    """
    if media_type is None:
        is_container = type(value) is dict or type(value) is list
        return jsontext.encode(value).decode() if is_container else text_of(value, pointer)
    if is_json(media_type):
        return jsontext.encode(value).decode()
    return text_of(value, pointer)


def ascii_json(value: Any) -> str:
    """`value` as JSON whose other characters are escaped, for headers."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def bytes_of(value: Any, pointer: str) -> bytes:
    """The bytes that `value` encodes in base64 (RFC 4648 §4). Raises `InvalidArguments`.

    Text that another text would encode as well, such as `QR==` beside `QQ==`, is refused.
    """
    if type(value) is not str:
        raise refusal(pointer, "must be base64 text")
    try:
        found = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise refusal(pointer, "is not base64 with padding (RFC 4648 §4)") from None
    if base64.b64encode(found).decode() != value:
        raise refusal(pointer, "is not canonical base64 (RFC 4648 §3.5)")
    return found
