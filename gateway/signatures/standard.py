"""Standard Webhooks 1.0.0, symmetric signatures (`v1`): both sides of it, over bytes.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import hmac
import secrets
from collections.abc import Sequence
from typing import Final

from gateway.signatures.headers import Fields, is_recent, only_value
from gateway.signatures.unfit import MIN_KEY_BYTES, InvalidSecret

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
PREFIX: Final = "whsec_"
_VERSION: Final = b"v1,"
_NEW_KEY_BYTES: Final = 32
_MAX_SIGNATURES: Final = 16
"""More cost the verifier more than any honest sender needs."""


def new_secret() -> str:
    """A fresh secret as it is shown to people: `whsec_` and 32 random bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_NEW_KEY_BYTES)).decode("ascii")


def key_of(secret: str) -> bytes:
    """The key that `secret` stands for; its prefix and its padding may be missing.

    Raises `InvalidSecret` for what is no base64, or too short to be a secret.
    """
    text = secret.removeprefix(PREFIX).rstrip("=")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidSecret(f"must be {PREFIX} and base64") from None
    if len(key) < MIN_KEY_BYTES:
        raise InvalidSecret(f"must be {PREFIX} and base64 of at least {MIN_KEY_BYTES} bytes")
    return key


def sign(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """The signature of exactly these bytes, for the field `webhook-signature`.

    `timestamp` is in seconds since 1970. Raises `ValueError` for an id with a dot, which would let
    two messages have one signature.
    """
    if "." in message_id:
        raise ValueError("a message id holds no dot")
    content = _content(message_id.encode("ascii"), b"%d" % timestamp, body)
    return _signature(key, content).decode("ascii")


def signed_fields(
    keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    """The three header fields of a message; during a rotation it is signed with both `keys`."""
    return {
        ID: message_id,
        TIMESTAMP: str(timestamp),
        SIGNATURE: " ".join(sign(key, message_id, timestamp, body) for key in keys),
    }


def signed_content(fields: Fields, body: bytes) -> bytes:
    """What the signature of a genuine message covers."""
    return _content(only_value(fields, ID) or b"", only_value(fields, TIMESTAMP) or b"", body)


def is_genuine(
    keys: Sequence[bytes], fields: Fields, body: bytes, now: float, tolerance_seconds: int
) -> bool:
    """Whether the owner of one of `keys` sent this message, not long ago.

    Never raises: whatever is malformed is not genuine. Whether the id may be used is not judged.
    """
    message_id = only_value(fields, ID)
    timestamp = only_value(fields, TIMESTAMP)
    shown = only_value(fields, SIGNATURE)
    if not message_id or timestamp is None or shown is None:
        return False
    if not is_recent(timestamp, now, tolerance_seconds):
        return False
    content = _content(message_id, timestamp, body)
    return _any_matches([_signature(key, content) for key in keys], shown.split(b" "))


def _content(message_id: bytes, timestamp: bytes, body: bytes) -> bytes:
    return b"%b.%b.%b" % (message_id, timestamp, body)


def _signature(key: bytes, content: bytes) -> bytes:
    return _VERSION + base64.b64encode(hmac.digest(key, content, "sha256"))


def _any_matches(expected: Sequence[bytes], shown: Sequence[bytes]) -> bool:
    """Compares each with each, so that the time does not tell which one came near."""
    if len(shown) > _MAX_SIGNATURES:
        return False
    found = False
    for own in expected:
        for other in shown:
            found |= hmac.compare_digest(own, other)
    return found
