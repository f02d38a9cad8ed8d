"""How hard a key is to guess that a person chose; keys of this gateway's own are random."""

import math
from collections import Counter
from typing import Final

MIN_LENGTH: Final = 20
MIN_DISTINCT: Final = 8
MIN_BITS: Final = 50.0
"""Low enough that one in 100,000 random keys of 32 hexadecimal digits falls below it."""
REMEDY: Final = "make one with `openssl rand -hex 32`"


def weakness_of(key: str) -> str | None:
    """Why `key` is too easy to guess, or None. Never a part of the key.

    An estimate from the text alone: it finds repetition and runs such as `0123`, not words.
    """
    if len(key) < MIN_LENGTH:
        return f"it has {len(key)} characters, and needs {MIN_LENGTH}"
    distinct = len(set(key))
    if distinct < MIN_DISTINCT:
        return f"it is made of {distinct} different characters, and needs {MIN_DISTINCT}"
    if _bits(key) < MIN_BITS:
        return "its characters follow a pattern"
    return None


def _bits(key: str) -> float:
    """An estimate of the information in `key`: nothing for what a pattern foretells."""
    block = _block(key)
    free = [now for before, now in zip(f"\0{block}", block, strict=False) if _is_free(before, now)]
    counts = Counter(free)
    return sum(-count * math.log2(count / len(free)) for count in counts.values())


def _block(key: str) -> str:
    """What `key` is a repetition of; mostly itself."""
    # A text that is found in its own double before its end is a repetition of what comes before.
    return key[: (key + key).find(key, 1)]


def _is_free(before: str, now: str) -> bool:
    """Whether a character neither repeats the one before nor is its neighbour, as in `abc`."""
    return abs(ord(now) - ord(before)) > 1
