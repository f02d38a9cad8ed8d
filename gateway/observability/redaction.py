"""The last guard before a line is written: what is known to be secret does not pass."""

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

MASK: Final = "***"
SHORTEST_SECRET: Final = 6
"""Anything shorter would blacken half the log and protect nothing."""

# A bearer token of any kind, and this gateway's own keys wherever they stand.
_MARKS: Final = ("bearer ", "gw_")
"""A text without any of them, in small letters, holds none of the shapes. Looking for them costs a
tenth of matching the shapes, and nearly every line is such a text."""
_SHAPES: Final = (
    r"(?<=bearer )[A-Za-z0-9._~+/=-]{6,}",
    r"(?<![A-Za-z0-9_-])gw_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
)


class Redactor:
    """Masks the given secrets in any spelling that a renderer may give them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = {form for secret in secrets for form in _forms(secret)}
        # Longest first: a secret that begins with another must not lose only its beginning.
        exact = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._exact = re.compile("|".join(exact) or r"(?!)")
        self._shapes = re.compile("|".join(_SHAPES), re.IGNORECASE)

    def redact(self, text: str) -> str:
        """`text` with every secret masked."""
        masked = self._exact.sub(MASK, text)
        small = masked.lower()
        if any(mark in small for mark in _MARKS):
            masked = self._shapes.sub(MASK, masked)
        return masked


def _forms(secret: str) -> set[str]:
    if len(secret) < SHORTEST_SECRET:
        return set()
    # Twice, because a message may hold the repr of a secret, and JSON then escapes the message.
    return {outer for inner in _spelled(secret) for outer in _spelled(inner)}


def _spelled(text: str) -> set[str]:
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        quote(text, safe=""),
    }
