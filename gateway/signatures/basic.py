"""HTTP Basic (RFC 7617) as a sender's proof, for those who sign nothing."""

import base64
import hmac
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from gateway.signatures.headers import Fields, only_value
from gateway.signatures.unfit import InvalidSecret

AUTHORIZATION: Final = "authorization"
_MIN_PASSWORD: Final = 16
_RULE: Final = f"must be <user>:<password>, the password of at least {_MIN_PASSWORD} characters"
_BASIC: Final = re.compile(rb"basic +([A-Za-z0-9+/]{1,1024}={0,2})", re.IGNORECASE)


def key_of(secret: str) -> bytes:
    """What a sender with this `<user>:<password>` shows. Raises `InvalidSecret`."""
    user, _, password = secret.partition(":")
    if not user or len(password) < _MIN_PASSWORD or not secret.isprintable():
        raise InvalidSecret(_RULE)
    return base64.b64encode(secret.encode("utf-8"))


def signed_fields(key: bytes) -> dict[str, str]:
    """The header field that a sender shows."""
    return {AUTHORIZATION: f"Basic {key.decode('ascii')}"}


def is_genuine(keys: Sequence[bytes], fields: Fields) -> bool:
    """Whether the request shows the credentials that one of `keys` stands for. Never raises."""
    match = _BASIC.fullmatch(only_value(fields, AUTHORIZATION) or b"")
    if match is None:
        return False
    # Of equal length, for a comparison otherwise tells how long the password is.
    shown = sha256(match[1]).digest()
    found = False
    for key in keys:
        found |= hmac.compare_digest(sha256(key).digest(), shown)
    return found
