"""An HMAC (RFC 2104) in one header, as most providers sign: over the raw body, or over a timestamp,
a dot and the raw body."""

import base64
import hmac
from collections.abc import Sequence

from gateway.contract.webhook import HmacSignature
from gateway.signatures.headers import Fields, is_recent, only_value
from gateway.signatures.unfit import MIN_KEY_BYTES, InvalidSecret


def key_of(secret: str) -> bytes:
    """The key that `secret` stands for: its UTF-8. Raises `InvalidSecret` when it is too short."""
    key = secret.encode("utf-8")
    if len(key) < MIN_KEY_BYTES:
        raise InvalidSecret(f"must have at least {MIN_KEY_BYTES} bytes")
    return key


def signed_fields(rule: HmacSignature, key: bytes, timestamp: int, body: bytes) -> dict[str, str]:
    """The header fields that prove exactly these bytes; `timestamp` is in seconds since 1970."""
    fields = {}
    if rule.timestamp_header is not None:
        fields[rule.timestamp_header] = str(timestamp)
        body = _content(b"%d" % timestamp, body)
    fields[rule.header] = _signature(rule, key, body).decode("ascii")
    return fields


def signed_content(rule: HmacSignature, fields: Fields, body: bytes) -> bytes:
    """What the signature of a genuine message covers."""
    if rule.timestamp_header is None:
        return body
    return _content(only_value(fields, rule.timestamp_header) or b"", body)


def is_genuine(
    rule: HmacSignature, keys: Sequence[bytes], fields: Fields, body: bytes, now: float
) -> bool:
    """Whether the owner of one of `keys` sent this message, and not long ago if it says when.

    Never raises: whatever is malformed is not genuine.
    """
    shown = only_value(fields, rule.header)
    if shown is None:
        return False
    if rule.timestamp_header is not None:
        timestamp = only_value(fields, rule.timestamp_header)
        if timestamp is None or not is_recent(timestamp, now, rule.tolerance_seconds):
            return False
        body = _content(timestamp, body)
    return _any_matches(rule, keys, shown, body)


def _any_matches(rule: HmacSignature, keys: Sequence[bytes], shown: bytes, content: bytes) -> bool:
    """Compares with each, so that the time does not tell which key came near."""
    fold = bytes.lower if rule.encoding == "hex" else bytes
    found = False
    for key in keys:
        found |= hmac.compare_digest(fold(_signature(rule, key, content)), fold(shown))
    return found


def _content(timestamp: bytes, body: bytes) -> bytes:
    return b"%b.%b" % (timestamp, body)


def _signature(rule: HmacSignature, key: bytes, content: bytes) -> bytes:
    digest = hmac.digest(key, content, rule.algorithm)
    text = digest.hex().encode() if rule.encoding == "hex" else base64.b64encode(digest)
    return rule.prefix.encode("ascii") + text
