"""Estimates how hard a key is to guess that a person chose. The gateway's own keys are random."""

import math
from collections import Counter
from typing import Final

from gateway.amounts import amount

MIN_LENGTH: Final = 20
MIN_DISTINCT: Final = 8
MIN_BITS: Final = 50.0
"""Of random keys of 32 hexadecimal digits, only one in 100,000 falls below this."""
REMEDY: Final = "make one with `openssl rand -hex 32`"


def weakness_of(key: str) -> str | None:
    """Why `key` is too easy to guess, or None. The text contains no part of the key.

    The estimate detects repetitions and runs such as `0123`, but no words.
    """
    if len(key) < MIN_LENGTH:
        return f"it has {amount(len(key), 'character')}, and needs {MIN_LENGTH}"
    distinct = len(set(key))
    if distinct < MIN_DISTINCT:
        return f"it has {distinct} different characters, and needs {MIN_DISTINCT}"
    if _bits(key) < MIN_BITS:
        return "its characters follow a pattern"
    return None


def _bits(key: str) -> float:
    """An estimate of the information in `key`. Characters that follow a pattern count as 0 bits."""
    block = _block(key)
    pairs = zip(f"\0{block}", block, strict=False)
    free = [character for previous, character in pairs if _is_free(previous, character)]
    counts = Counter(free)
    return sum(-count * math.log2(count / len(free)) for count in counts.values())


def _block(key: str) -> str:
    """The text that `key` repeats; `key` itself if it is no repetition."""
    # A repetition of a block is found again in its own double, after one block.
    return key[: (key + key).find(key, 1)]


def _is_free(previous: str, character: str) -> bool:
    """Whether the two are neither equal nor adjacent, unlike the characters of `aa` and `abc`."""
    return abs(ord(character) - ord(previous)) > 1
