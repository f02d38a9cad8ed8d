"""Rules for secrets, and new random secrets."""

import base64
import secrets
from typing import Final

MIN_KEY_BYTES: Final = 24
"""Standard Webhooks requires 24 to 64 bytes. A vendor's shorter secret gets a warning."""
_NEW_KEY_BYTES: Final = 32


class InvalidSecret(ValueError):
    """A secret is invalid. The message says what it must be, and never contains it."""


def checked(key: bytes) -> bytes:
    """`key`. Raises `InvalidSecret` if it is empty. A vendor chooses how long its secrets are."""
    if not key:
        raise InvalidSecret("must not be empty")
    return key


def random_text() -> str:
    """32 random bytes in base64."""
    return base64.b64encode(secrets.token_bytes(_NEW_KEY_BYTES)).decode("ascii")
