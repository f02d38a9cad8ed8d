"""`requestState`: what a call that asks needs when its client repeats it with the answers.

Nothing is stored. The state is encrypted and authenticated (AES-256-GCM) with a secret of the
caller, which the gateway gets with each request. So every process can open it, only for the caller
that it was given to, and the client cannot read or change it.
"""

import base64
import hashlib
import secrets
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from gateway.calls.asking.errors import StateRefused
from gateway.calls.asking.wire import Given

TTL_SECONDS: Final = 600.0
MAX_LENGTH: Final = 512 * 1024
"""Characters. The answers in it are limited: see `MAX_GIVEN_BYTES`."""
_NONCE: Final = 12
_PURPOSE: Final = b"contract-gateway request state 1\0"


class RequestState(Struct, frozen=True, array_like=True):
    """The state of a call between two rounds."""

    subject: str
    """The key that made the call."""
    endpoint: str
    """Where it was made: a connector, or empty for all."""
    call: str
    """A digest of the tool and its arguments."""
    expires: float
    """Seconds since the epoch."""
    given: Mapping[str, Given]
    """The answers so far, by key."""
    asked: Mapping[str, str]
    """The digests of the open questions, by key."""


def sealed(state: RequestState, secret: bytes) -> str:
    """`state` as text for the caller with `secret`."""
    from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 - few need these 6 MB
        AESGCM,
    )

    nonce = secrets.token_bytes(_NONCE)
    hidden = AESGCM(_key(secret)).encrypt(nonce, msgspec.json.encode(state), _PURPOSE)
    return base64.urlsafe_b64encode(nonce + hidden).rstrip(b"=").decode()


def unsealed(text: str, secret: bytes) -> RequestState:
    """The state of `text`. Raises `StateRefused` unless this caller was given it."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in `sealed`
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as in `sealed`

    if len(text) > MAX_LENGTH or not text.isascii():
        raise StateRefused
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        plain = AESGCM(_key(secret)).decrypt(found[:_NONCE], found[_NONCE:], _PURPOSE)
    except (ValueError, InvalidTag):
        raise StateRefused from None
    return msgspec.json.decode(plain, type=RequestState)


def _key(secret: bytes) -> bytes:
    return hashlib.sha256(_PURPOSE + secret).digest()
