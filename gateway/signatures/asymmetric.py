"""Keys and signatures of Ed25519, ECDSA and RSA. Imported when one is used: it needs 6 MB."""

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes
from cryptography.x509 import load_pem_x509_certificate

from gateway.signatures.scheme import InvalidSecret

_Public: TypeAlias = ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey
_Private: TypeAlias = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
_KINDS: Final[dict[str, tuple[type[_Public], type[_Private]]]] = {
    "ed25519": (ed25519.Ed25519PublicKey, ed25519.Ed25519PrivateKey),
    "ecdsa-sha256": (ec.EllipticCurvePublicKey, ec.EllipticCurvePrivateKey),
    "rsa-sha256": (rsa.RSAPublicKey, rsa.RSAPrivateKey),
    "rsa-sha1": (rsa.RSAPublicKey, rsa.RSAPrivateKey),
}
_PRIVATE: Final = (
    ed25519.Ed25519PrivateKey,
    ec.EllipticCurvePrivateKey,
    rsa.RSAPrivateKey,
)
_DER: Final = serialization.Encoding.DER
_RAW_BYTES: Final = 32
"""An Ed25519 key without a wrapping."""
_MIN_RSA_BITS: Final = 2048
_FORM: Final = "must be a key of the algorithm: PEM of it or of its certificate, or base64 of DER"


def key_of(algorithm: str, text: str) -> bytes:
    """The key in DER, public or private. Raises `InvalidSecret`."""
    key = _loaded(text)
    public, private = _KINDS[algorithm]
    if not isinstance(key, (public, private)):
        raise InvalidSecret(_FORM)
    if isinstance(key, rsa.RSAPublicKey | rsa.RSAPrivateKey) and key.key_size < _MIN_RSA_BITS:
        raise InvalidSecret(f"must be an RSA key of at least {_MIN_RSA_BITS} bits")
    if isinstance(key, _PRIVATE):
        return _private_der(key)
    return key.public_bytes(_DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def new_key(algorithm: str) -> str:
    """A new private key, in base64 of DER."""
    key: _Private
    if algorithm == "ed25519":
        key = ed25519.Ed25519PrivateKey.generate()
    elif algorithm == "ecdsa-sha256":
        key = ec.generate_private_key(ec.SECP256R1())
    else:
        key = rsa.generate_private_key(public_exponent=65537, key_size=_MIN_RSA_BITS)
    return base64.b64encode(_private_der(key)).decode("ascii")


def check_of(algorithm: str, key: bytes) -> Callable[[bytes, Sequence[bytes]], bool]:
    """The check that one of several signatures is that of a content by `key`."""
    loaded = _of_der(key)
    public = loaded.public_key() if isinstance(loaded, _PRIVATE) else loaded
    if not isinstance(public, _KINDS[algorithm][0]):
        raise InvalidSecret(_FORM)
    return partial(_any_matches, algorithm, public)


def sign(algorithm: str, key: bytes, content: bytes) -> bytes:
    """The signature of a content. Raises `InvalidSecret` if `key` is a public key."""
    private = _of_der(key)
    if isinstance(private, ed25519.Ed25519PrivateKey):
        return private.sign(content)
    if isinstance(private, ec.EllipticCurvePrivateKey):
        return private.sign(content, ec.ECDSA(hashes.SHA256()))
    if isinstance(private, rsa.RSAPrivateKey):
        return private.sign(content, padding.PKCS1v15(), _hash(algorithm))
    raise InvalidSecret("must be a private key, to sign")


def _any_matches(algorithm: str, key: _Public, content: bytes, signatures: Sequence[bytes]) -> bool:
    return any(_matches(algorithm, key, content, signature) for signature in signatures)


def _matches(algorithm: str, key: _Public, content: bytes, signature: bytes) -> bool:
    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, content)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, content, ec.ECDSA(hashes.SHA256()))
        else:
            key.verify(signature, content, padding.PKCS1v15(), _hash(algorithm))
    except InvalidSignature:
        return False
    return True


def _hash(algorithm: str) -> hashes.HashAlgorithm:
    # Version 1 of SNS signs with SHA-1. A forger needs a second preimage, which nobody can find.
    return hashes.SHA1() if algorithm == "rsa-sha1" else hashes.SHA256()  # noqa: S303 - as above


def _loaded(text: str) -> PublicKeyTypes | PrivateKeyTypes:
    """The key that `text` contains. Raises `InvalidSecret`."""
    try:
        if "-----BEGIN CERTIFICATE" in text:
            return load_pem_x509_certificate(text.encode()).public_key()
        if "PRIVATE KEY-----" in text:
            return serialization.load_pem_private_key(text.encode(), password=None)
        if text.startswith("-----BEGIN"):
            return serialization.load_pem_public_key(text.encode())
        return _of_der(_decoded(text))
    except (ValueError, TypeError, UnsupportedAlgorithm, binascii.Error):
        raise InvalidSecret(_FORM) from None


def _decoded(text: str) -> bytes:
    if len(text) == 2 * _RAW_BYTES:
        return bytes.fromhex(text)
    return base64.b64decode(text, validate=True)


def _of_der(key: bytes) -> PublicKeyTypes | PrivateKeyTypes:
    if len(key) == _RAW_BYTES:
        return ed25519.Ed25519PublicKey.from_public_bytes(key)
    try:
        return serialization.load_der_public_key(key)
    except ValueError:
        return serialization.load_der_private_key(key, password=None)


def _private_der(key: _Private) -> bytes:
    return key.private_bytes(_DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
