"""Names of definitions: plain, short, and the same in every run."""

import hashlib
import re
from typing import Final

_UNCLEAN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME: Final = 100


def clean_name(name: str) -> str:
    """`name`, or a plain name with a digest of it if it has other characters or is long."""
    cleaned = _UNCLEAN.sub("_", name)[:_MAX_NAME]
    return name if cleaned == name and name else hashed(cleaned, name)


def hashed(name: str, original: str) -> str:
    """`name` with a digest of `original`."""
    return f"{name}_{hashlib.sha256(original.encode()).hexdigest()[:8]}"
