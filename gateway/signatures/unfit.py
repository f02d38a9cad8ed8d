"""What is no secret."""

from typing import Final

MIN_KEY_BYTES: Final = 24
"""Standard Webhooks asks for 24 to 64; every signature here is held to the lower bound."""


class InvalidSecret(ValueError):
    """Says what the secret must be, and never what it is."""
