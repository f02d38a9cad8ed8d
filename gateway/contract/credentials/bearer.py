"""The form of a key, which is sent as `Authorization: Bearer <key>` (RFC 6750 §2.1, b64token)."""

import re
from typing import Final

TOKEN: Final = r"[A-Za-z0-9._~+/-]+=*"  # noqa: S105 - the form of a token
LENGTHS: Final = range(16, 513)
RULE: Final = "16 to 512 characters, all of them letters, digits or -._~+/ (and = at the end)"
"""The form in words, for error messages."""

MIN_LENGTH: Final = 20
MIN_DISTINCT: Final = 8
CHOSEN_RULE: Final = (
    f"{MIN_LENGTH} to {LENGTHS[-1]} characters, all of them letters, digits or -._~+/ (and = at the"
    f" end), at least {MIN_DISTINCT} different ones, and no simple pattern"
)
"""What a key must be that an operator chooses, in words."""

_is_token: Final = re.compile(TOKEN).fullmatch


def is_key(text: str) -> bool:
    """Whether a request can carry `text` as its key."""
    return len(text) in LENGTHS and _is_token(text) is not None
