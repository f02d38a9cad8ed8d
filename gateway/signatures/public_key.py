"""Signatures that a public key of the sender verifies."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Literal

from gateway.signatures.signed import PlacedSignature


class PublicKeySignature(PlacedSignature, frozen=True, kw_only=True, tag="public_key"):
    """A signature by Ed25519, ECDSA or RSA.

    The secret of the setting is the public key: PEM of a key or a certificate, base64 of DER, or
    the 32 bytes of an Ed25519 key in base64 or hex. Where the gateway plays the sender itself, it
    is the private key.
    """

    algorithm: Literal["ed25519", "ecdsa-sha256", "rsa-sha256", "rsa-sha1"]
    key_prefix: str = ""
    """The text before an encoded key, such as `whpk_`."""

    @property
    def title(self) -> str:
        """The name of the algorithm."""
        return "Ed25519" if self.algorithm == "ed25519" else self.algorithm.upper()

    @property
    def secret_form(self) -> str:
        """The forms of the key."""
        return "the sender's public key: PEM of it or of its certificate, or base64 of DER"

    def key_of(self, secret: str) -> bytes:
        """The key in DER: the public one or, where the gateway signs, the private one.

        Raises `InvalidSecret` if it cannot be read, or is none for the algorithm.
        """
        text = secret.strip().removeprefix(self.key_prefix)
        found: bytes = _asymmetric().key_of(self.algorithm, text)
        return found

    def new_secret(self) -> str:
        """A new private key, in base64 of DER."""
        return f"{self.key_prefix}{_asymmetric().new_key(self.algorithm)}"

    def check_of(self, key: bytes) -> Callable[[bytes, Sequence[bytes]], bool]:
        """See `PlacedSignature`."""
        found: Callable[[bytes, Sequence[bytes]], bool] = _asymmetric().check_of(
            self.algorithm, key
        )
        return found

    def sign(self, key: bytes, content: bytes) -> bytes:
        """See `PlacedSignature`."""
        signature: bytes = _asymmetric().sign(self.algorithm, key, content)
        return signature


def _asymmetric() -> ModuleType:
    from gateway.signatures import asymmetric  # noqa: PLC0415 - few need these 6 MB

    return asymmetric
