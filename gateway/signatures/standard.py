"""Standard Webhooks 1.0.0, symmetric signatures (`v1`): signs and verifies messages.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import hmac
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from gateway.signatures.received import Received, is_recent, only_value
from gateway.signatures.scheme import (
    MIN_KEY_BYTES,
    InvalidSecret,
    SignatureScheme,
    Verify,
    random_text,
)

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
PREFIX: Final = "whsec_"
_HEADERS: Final[Mapping[str, str]] = {
    ID: "The message's id: the same whenever it is sent again.",
    TIMESTAMP: "When it was sent, in seconds since 1970.",
    SIGNATURE: "`v1,` and the base64 HMAC-SHA256 of id, timestamp and body; several signatures are"
    " separated by spaces.",
}
_RULE: Final = f"{PREFIX} and base64"
_VERSION: Final = b"v1,"
_MAX_SIGNATURES: Final = 16
"""A message with more signatures is not verified. No legitimate sender needs as many."""


class StandardSignature(SignatureScheme, frozen=True, kw_only=True, tag="standard"):
    """Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp`, `webhook-signature` (v1)."""

    tolerance_seconds: int = 300

    title = "Standard Webhooks 1.0.0"
    headers = _HEADERS
    security = None
    challenge = None
    credential_headers = frozenset({SIGNATURE})
    signed_headers = frozenset({ID, TIMESTAMP})
    secret_form = f"`{PREFIX}` and base64 of at least {MIN_KEY_BYTES} bytes"

    def key_of(self, secret: str) -> bytes:
        """The key of `secret`, whose prefix and padding may be missing.

        Raises `InvalidSecret` if it is not base64, or too short.
        """
        text = secret.removeprefix(PREFIX).rstrip("=")
        try:
            key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise InvalidSecret(f"must be {_RULE}") from None
        if len(key) < MIN_KEY_BYTES:
            raise InvalidSecret(f"must be {_RULE} of at least {MIN_KEY_BYTES} bytes")
        return key

    def new_secret(self) -> str:
        """A new secret as it is shown to people: `whsec_` and 32 random bytes in base64."""
        return PREFIX + random_text()

    def spellings(self, secret: str) -> tuple[str, ...]:
        """The secret with the prefix and without."""
        return secret, secret.removeprefix(PREFIX)

    def id_refusal(self, message_id: str) -> str | None:
        """Refuses an id with a dot, because two messages could then have the same signature."""
        return "A message id must not contain a dot." if "." in message_id else None

    def sent_at(self, received: Received) -> float | None:
        """See `SignatureScheme`."""
        timestamp = only_value(received.fields, TIMESTAMP) or b""
        return float(timestamp) if timestamp.isdigit() else None

    def signed_content(self, received: Received) -> bytes:
        """The id, the timestamp and the body."""
        message_id, timestamp = (only_value(received.fields, each) for each in (ID, TIMESTAMP))
        return _content(message_id or b"", timestamp or b"", received.body)

    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that a message is signed with one of `keys` and recent. Its id may be any."""
        return partial(_is_authentic, tuple(keys), self.tolerance_seconds)

    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,
        timestamp: int,
        body: bytes,
        request: Received | None = None,  # noqa: ARG002 - the signature of `SignatureScheme`
    ) -> dict[str, str]:
        """The three header fields. During a rotation, there is a signature with each of `keys`.

        Raises `ValueError` for an id with a dot.
        """
        refusal = self.id_refusal(message_id)
        if refusal is not None:
            raise ValueError(refusal)
        content = _content(message_id.encode("ascii"), b"%d" % timestamp, body)
        return {
            ID: message_id,
            TIMESTAMP: str(timestamp),
            SIGNATURE: b" ".join(_signature(key, content) for key in keys).decode("ascii"),
        }


def _is_authentic(
    keys: Sequence[bytes], tolerance_seconds: int, received: Received, now: float
) -> bool:
    fields = received.fields
    message_id = only_value(fields, ID)
    timestamp = only_value(fields, TIMESTAMP)
    signatures = only_value(fields, SIGNATURE)
    if not message_id or timestamp is None or signatures is None:
        return False
    if not is_recent(timestamp, now, tolerance_seconds):
        return False
    content = _content(message_id, timestamp, received.body)
    return _any_matches([_signature(key, content) for key in keys], signatures.split(b" "))


def _content(message_id: bytes, timestamp: bytes, body: bytes) -> bytes:
    return b"%b.%b.%b" % (message_id, timestamp, body)


def _signature(key: bytes, content: bytes) -> bytes:
    return _VERSION + base64.b64encode(hmac.digest(key, content, "sha256"))


def _any_matches(expected: Sequence[bytes], presented: Sequence[bytes]) -> bool:
    """Compares all pairs, so that the duration does not reveal which one matched."""
    if len(presented) > _MAX_SIGNATURES:
        return False
    found = False
    for signature in expected:
        for other in presented:
            found |= hmac.compare_digest(signature, other)
    return found
