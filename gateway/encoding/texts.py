"""Primitive values as text (OpenAPI 3.2, Appendix B), content of a media type, and bytes."""

import base64
import binascii
import json
from decimal import Decimal
from typing import Any, Final

from gateway.contract.values import jsontext
from gateway.encoding.escapes import refusal

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
