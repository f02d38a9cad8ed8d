"""The characters that each part of a request may contain. The others are escaped or refused."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, quote_plus

from msgspec import Struct

from gateway.errors import InvalidArguments, MalformedRequest

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
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
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
    if _CONTROL.search(text):
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
