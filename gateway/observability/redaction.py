"""Masks known secrets in a line, as the last step before it is written."""

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

MASK: Final = "***"
SHORTEST_SECRET: Final = 6
"""Shorter secrets are not masked: they would match ordinary text in most lines."""

_MARKS: Final = ("bearer ", "gw_")
"""A text that contains none of them, in lower case, matches none of `_PATTERNS`. To search for them
costs a tenth of matching the patterns, and most lines contain none."""
_PATTERNS: Final = (
    r"(?<=bearer )[A-Za-z0-9._~+/=-]{6,}",
    r"(?<![A-Za-z0-9_-])gw_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
)
"""Any bearer token, and the gateway's own keys anywhere."""


class Redactor:
    """Masks the given secrets, and bearer tokens and keys, in every form that a renderer writes."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # Twice, because a message may contain the repr of a secret, and JSON escapes the message.
        known = {
            form for secret in secrets for inner in forms_of(secret) for form in forms_of(inner)
        }
        # Longest first: of a secret that begins with another one, all must be masked.
        exact = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._exact = re.compile("|".join(exact) or r"(?!)")
        self._patterns = re.compile("|".join(_PATTERNS), re.IGNORECASE)

    def redact(self, text: str) -> str:
        """`text` with every secret masked."""
        masked = self._exact.sub(MASK, text)
        lowered = masked.lower()
        if any(mark in lowered for mark in _MARKS):
            masked = self._patterns.sub(MASK, masked)
        return masked


def forms_of(text: str) -> set[str]:
    """`text` as it is, and as JSON, Python and a URL write it. None if it is too short to mask."""
    if len(text) < SHORTEST_SECRET:
        return set()
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        quote(text, safe=""),
    }
