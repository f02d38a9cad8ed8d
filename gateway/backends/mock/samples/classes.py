"""Character classes of regular expressions, as ranges of code points."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""The first and the last code point of each range."""


def _ranges(*pairs: str) -> Ranges:
    return tuple((ord(pair[0]), ord(pair[-1])) for pair in pairs)


DIGITS: Final = _ranges("09")
WORDS: Final = _ranges("az", "AZ", "09", "_")
SPACES: Final = _ranges(" ")
VISIBLE: Final = ((0x20, 0x7E),)
"""The characters of which negated classes and `.` are sampled: printable ASCII."""
CATEGORIES: Final[Mapping[str, Ranges]] = {
    "L": _ranges("az", "AZ"),
    "Letter": _ranges("az", "AZ"),
    "Lu": _ranges("AZ"),
    "Ll": _ranges("az"),
    "N": DIGITS,
    "Nd": DIGITS,
    "P": _ranges("!#", "%*", ",/", ":;"),
    "Z": SPACES,
    "Zs": SPACES,
    "ASCII": VISIBLE,
    "Alphabetic": _ranges("az", "AZ"),
}
"""Unicode categories, `\\p{…}`, limited to ASCII."""


def without(excluded: Iterable[tuple[int, int]], whole: Ranges = VISIBLE) -> Ranges:
    """The part of `whole` that is in none of the excluded ranges."""
    left: list[tuple[int, int]] = list(whole)
    for low, high in excluded:
        cut: list[tuple[int, int]] = []
        for first, last in left:
            before, after = (first, min(last, low - 1)), (max(first, high + 1), last)
            cut += [each for each in dict.fromkeys((before, after)) if each[0] <= each[1]]
        left = cut
    return tuple(left)


ESCAPED: Final[Mapping[str, Ranges]] = {
    "d": DIGITS,
    "w": WORDS,
    "s": SPACES,
    "D": without(DIGITS),
    "W": without(WORDS),
    "S": without(SPACES),
}
"""The classes with a one-letter escape."""
