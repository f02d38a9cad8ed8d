"""What is a secret, and a fresh one."""

import base64
import secrets
from typing import Final

MIN_KEY_BYTES: Final = 24
"""Standard Webhooks asks for 24 to 64; every signature here is held to the lower bound."""
_NEW_KEY_BYTES: Final = 32


class InvalidSecret(ValueError):
    """Says what the secret must be, and never what it is."""


def random_text() -> str:
    """32 random bytes in base64."""
    return base64.b64encode(secrets.token_bytes(_NEW_KEY_BYTES)).decode("ascii")
