"""An HMAC (RFC 2104). Most providers sign in this way."""

import base64
import binascii
import hmac
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from gateway.signatures.scheme import InvalidSecret, checked, random_text
from gateway.signatures.signed import PlacedSignature


class HmacSignature(PlacedSignature, frozen=True, kw_only=True, tag="hmac"):
    """An HMAC over parts of the request: the raw body, unless the contract says otherwise."""

    algorithm: Literal["sha256", "sha512", "sha1"] = "sha256"
    key_encoding: Literal["text", "base64", "hex"] = "text"
    """How the key is written. `text`: its bytes are the text's."""
    key_prefix: str = ""
    """The text before an encoded key, such as `whsec_`. It is not a part of the key."""

    @property
    def title(self) -> str:
        """The name of the algorithm."""
        return f"HMAC-{self.algorithm.upper()}"

    @property
    def secret_form(self) -> str:
        """The key, and how it is written."""
        written = "" if self.key_encoding == "text" else f", in {self.key_encoding}"
        prefix = f", after `{self.key_prefix}`" if self.key_prefix else ""
        return f"the key of the HMAC{written}{prefix}"

    def key_of(self, secret: str) -> bytes:
        """The key. Raises `InvalidSecret` if it is not encoded as declared, or is empty."""
        if self.key_encoding == "text":
            return checked(secret.encode("utf-8"))
        try:
            return checked(self._decoded_key(secret.removeprefix(self.key_prefix)))
        except (binascii.Error, ValueError):
            raise InvalidSecret(f"must be {self.secret_form}") from None

    def _decoded_key(self, text: str) -> bytes:
        if self.key_encoding == "hex":
            return bytes.fromhex(text)
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)

    def new_secret(self) -> str:
        """A new random key, encoded as declared."""
        text = random_text()
        encoded = base64.b64decode(text).hex() if self.key_encoding == "hex" else text
        return f"{self.key_prefix}{encoded}"

    def check_of(self, key: bytes) -> Callable[[bytes, Sequence[bytes]], bool]:
        """See `PlacedSignature`."""
        return partial(self._any_matches, key)

    def sign(self, key: bytes, content: bytes) -> bytes:
        """See `PlacedSignature`."""
        return hmac.digest(key, content, self.algorithm)

    def _any_matches(self, key: bytes, content: bytes, signatures: Sequence[bytes]) -> bool:
        expected, found = self.sign(key, content), False
        for signature in signatures:
            found |= hmac.compare_digest(expected, signature)
        return found
