"""Continuations: sealed texts that name the next part of a result.

Nothing is stored: the text has all that is needed to make the call again. Its seal is made with a
secret of the caller, which the gateway gets with each request. So every process can open it, and
only for the caller that it was given to.
"""

import base64
import hashlib
import hmac
import zlib
from typing import Final

import msgspec
from msgspec import Struct

MAX_LENGTH: Final = 2048
"""Characters. A model has to repeat the text."""
_SEAL: Final = 16
_MAX_BYTES: Final = 64 * 1024
_PURPOSE: Final = b"contract-gateway continuation 1\0"


class Continuation(Struct, frozen=True, array_like=True):
    """The next part of a result."""

    operation: str
    arguments: str
    """The JSON text of the arguments, as the caller wrote them."""
    start: int
    """The first item of the part."""
    digest: str
    """Of the items before `start`: see `ResultPart.digest`."""


class NotSealed(ValueError):
    """The text is no continuation that was given to this caller."""


def sealed(continuation: Continuation, secret: bytes) -> str | None:
    """The text of `continuation` for the caller with `secret`. None if it would be too long."""
    body = zlib.compress(msgspec.json.encode(continuation), 9)
    text = base64.urlsafe_b64encode(_seal(body, secret) + body).rstrip(b"=").decode()
    return text if len(text) <= MAX_LENGTH else None


def unsealed(text: str, secret: bytes) -> Continuation:
    """The continuation of `text`. Raises `NotSealed`."""
    if len(text) > MAX_LENGTH or not text.isascii():
        raise NotSealed
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise NotSealed from None
    seal, body = found[:_SEAL], found[_SEAL:]
    if not hmac.compare_digest(seal, _seal(body, secret)):
        raise NotSealed
    # Only the gateway makes the seal, so what it seals is well-formed. Its size is still bounded.
    plain = zlib.decompressobj().decompress(body, _MAX_BYTES)
    return msgspec.json.decode(plain, type=Continuation)


def _seal(body: bytes, secret: bytes) -> bytes:
    key = hashlib.sha256(_PURPOSE + secret).digest()
    return hmac.digest(key, body, "sha256")[:_SEAL]
