"""Splits texts into the terms that are compared: lower-case stems without accents."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[^\W_]+")
_VOWEL: Final = re.compile(r"[aeiouy]")
_MAX_WORD: Final = 40
"""Longer words are identifiers and encoded values. Nobody searches them."""
_SHORT: Final = 3
_STOP: Final = (
    "a about am an and any are as at be been but by did do does for from had has have he her"
    " his how i if in into is it its just let like many may me much my need no not now of on"
    " one or our out please recent recently lately she so some than that the their them there"
    " these they this those to up us want was we were will with would you your"
)
STOP: Final = frozenset(_STOP.split())
"""Words without a meaning of their own. They are not searched."""


def spelled(text: str) -> list[str]:
    """The words of `text` in lower case, without accents. `_` and signs separate words.

    `camelCase` gives its parts and the whole, because people write names such as GitHub in any way.
    """
    folded = unicodedata.normalize("NFKD", text)
    plain = "".join(each for each in folded if not unicodedata.combining(each))
    return [
        word for found in _WORD.findall(plain) if len(found) <= _MAX_WORD for word in _parts(found)
    ]


def _parts(word: str) -> list[str]:
    whole = word.casefold()
    parts = [part.casefold() for part in _HUMP.split(word)]
    return parts if len(parts) == 1 else [*parts, whole]


def terms(text: str) -> list[str]:
    """The stems of the words of `text`, in their order, without stop words."""
    return [stem(word) for word in spelled(text) if word not in STOP]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A common beginning of the forms of an English word: `creat` of create, created, creation.

    Only equal results matter, so a stem need not be a word. Other words stay as they are.
    """
    if len(word) <= _SHORT or not word.isascii() or not word.isalpha():
        return word
    return _ending(_derived(_inflected(_singular(word))))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _inflected(word: str) -> str:
    for suffix in ("ing", "ed"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= _SHORT and _VOWEL.search(rest):
            is_doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if is_doubled else rest
    return word


def _derived(word: str) -> str:
    if word.endswith("ly") and len(word) > _SHORT + 3:
        return word[:-2]
    if word.endswith("ment") and len(word) > _SHORT + 5:
        return word[:-4]
    if word.endswith(("tion", "sion")) and len(word) > _SHORT + 3:
        return word[:-3]
    return word


def _ending(word: str) -> str:
    word = word.removesuffix("e")
    if word.endswith("at") and len(word) > _SHORT + 3:
        word = word[:-2]
    return word[:-1] + "i" if word.endswith("y") and len(word) > _SHORT else word
