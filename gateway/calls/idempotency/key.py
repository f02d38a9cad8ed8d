"""Idempotency keys, by draft-ietf-httpapi-idempotency-key-header-07."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

import msgspec

from gateway.errors import MalformedRequest

MAX_LENGTH: Final = 255
_STRING: Final = re.compile(r'"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"')
"""A string of RFC 9651 §3.3.3, which the draft asks for."""
_BARE: Final = re.compile(r"[\x21\x23-\x7e]+")
"""The key as most clients send it, without quotes."""
_ESCAPED: Final = re.compile(r'\\(["\\])')
_NAMESPACE: Final = UUID("b0f3b7a2-6b39-5f6c-9a0e-3f1c0a3f8d11")
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def read_key(text: str) -> str:
    """The key that `text` writes, with or without quotes. Raises `MalformedRequest`."""
    quoted = _STRING.fullmatch(text)
    key = _ESCAPED.sub(r"\1", quoted[1]) if quoted else text
    if not key or len(key) > MAX_LENGTH or not (quoted or _BARE.fullmatch(key)):
        raise MalformedRequest(
            f"An idempotency key has 1 to {MAX_LENGTH} visible ASCII characters, such as a UUID."
        )
    return key


def fingerprint(operation: str, arguments: Mapping[str, Any]) -> str:
    """A digest of the call. The order of members and white space make no difference."""
    return hashlib.sha256(_encode([operation, arguments])).hexdigest()


def call_id(subject: str, operation: str, key: str) -> str:
    """The id of a keyed call for upstreams. It is the same in each repetition, and is no secret."""
    return str(uuid5(_NAMESPACE, _encode([subject, operation, key]).decode()))
