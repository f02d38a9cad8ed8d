"""An HMAC (RFC 2104) in one header. Most providers sign in this way."""

import base64
import hmac
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from gateway.signatures.headers import Fields, is_recent, only_value
from gateway.signatures.scheme import SignatureScheme, Verify
from gateway.signatures.secret_rules import MIN_KEY_BYTES, InvalidSecret, random_text


class HmacSignature(SignatureScheme, frozen=True, kw_only=True, tag="hmac"):
    """An HMAC in one header over the raw body, or over `<timestamp>.<raw body>`."""

    header: str
    """The name of the header, in any case."""
    algorithm: Literal["sha256", "sha512"] = "sha256"
    encoding: Literal["hex", "base64"] = "hex"
    prefix: str = ""
    """The text before the signature in the header, such as `sha256=`."""
    timestamp_header: str | None = None
    """The name of the header with the signed time in seconds since 1970, if there is one."""
    tolerance_seconds: int = 300

    security = None
    challenge = None
    secret_form = f"the key of the HMAC, at least {MIN_KEY_BYTES} bytes"

    @property
    def title(self) -> str:
        """The name of the algorithm."""
        return f"HMAC-{self.algorithm.upper()}"

    @property
    def headers(self) -> Mapping[str, str]:
        """The signature, and the timestamp if it is signed."""
        prefix = f"`{self.prefix}` and the " if self.prefix else "The "
        signed = "timestamp, a full stop and the body" if self.timestamp_header else "the body"
        found = {self.header: f"{prefix}{self.encoding} {self.title} of {signed}."}
        if self.timestamp_header is not None:
            found[self.timestamp_header] = "When it was sent, in seconds since 1970."
        return found

    @property
    def credential_headers(self) -> frozenset[str]:
        """The signature."""
        return frozenset({self.header.lower()})

    @property
    def signed_headers(self) -> frozenset[str]:
        """The timestamp, if it is signed."""
        return frozenset({self.timestamp_header.lower()} if self.timestamp_header else ())

    def key_of(self, secret: str) -> bytes:
        """The bytes of `secret` in UTF-8. Raises `InvalidSecret` if they are too short."""
        key = secret.encode("utf-8")
        if len(key) < MIN_KEY_BYTES:
            raise InvalidSecret(f"must have at least {MIN_KEY_BYTES} bytes")
        return key

    def new_secret(self) -> str:
        """A new random text."""
        return random_text()

    def spellings(self, secret: str) -> tuple[str, ...]:
        """The secret alone, because requests do not contain it."""
        return (secret,)

    def id_refusal(self, message_id: str) -> str | None:  # noqa: ARG002 - the signature of `SignatureScheme`
        """None, because any id is allowed."""
        return None

    def signed_content(self, fields: Fields, body: bytes) -> bytes:
        """The body, or the timestamp and the body."""
        if self.timestamp_header is None:
            return body
        return _content(only_value(fields, self.timestamp_header) or b"", body)

    def verifier(self, keys: Sequence[bytes]) -> Verify:
        """The check that a message is signed with one of `keys`, and is recent if it has a time."""
        return partial(self._is_authentic, tuple(keys))

    def signed_fields(
        self,
        keys: Sequence[bytes],
        message_id: str,  # noqa: ARG002 - the signature of `SignatureScheme`
        timestamp: int,
        body: bytes,
    ) -> dict[str, str]:
        """The signature by the first key, and the timestamp if it is signed."""
        fields = {}
        if self.timestamp_header is not None:
            fields[self.timestamp_header] = str(timestamp)
            body = _content(b"%d" % timestamp, body)
        fields[self.header] = self._signature(keys[0], body).decode("ascii")
        return fields

    def _is_authentic(self, keys: Sequence[bytes], fields: Fields, body: bytes, now: float) -> bool:
        signature = only_value(fields, self.header)
        if signature is None:
            return False
        if self.timestamp_header is not None:
            timestamp = only_value(fields, self.timestamp_header)
            if timestamp is None or not is_recent(timestamp, now, self.tolerance_seconds):
                return False
            body = _content(timestamp, body)
        return self._any_matches(keys, signature, body)

    def _any_matches(self, keys: Sequence[bytes], signature: bytes, content: bytes) -> bool:
        """Compares with every key, so that the duration does not reveal which one matched."""
        fold = bytes.lower if self.encoding == "hex" else bytes
        found = False
        for key in keys:
            found |= hmac.compare_digest(fold(self._signature(key, content)), fold(signature))
        return found

    def _signature(self, key: bytes, content: bytes) -> bytes:
        digest = hmac.digest(key, content, self.algorithm)
        text = digest.hex().encode() if self.encoding == "hex" else base64.b64encode(digest)
        return self.prefix.encode("ascii") + text


def _content(timestamp: bytes, body: bytes) -> bytes:
    return b"%b.%b" % (timestamp, body)
