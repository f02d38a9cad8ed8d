"""Removes accents from text, so that a search for Zurich finds Zürich and the reverse."""

import unicodedata
from typing import Final

_WITHOUT_ACCENT: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d"}
    | {"Ø": "O", "Ł": "L", "Đ": "D", "Æ": "AE", "Œ": "OE", "Ð": "D", "þ": "th", "Þ": "TH"}
    | {"\u2019": "'"}
)
"""Letters that Unicode does not decompose into an ASCII letter and an accent."""


def without_accents(text: str) -> str:
    """`text` with ASCII letters. Characters without an ASCII equivalent stay."""
    plain = unicodedata.normalize("NFKD", text.translate(_WITHOUT_ACCENT))
    return "".join(char for char in plain if not unicodedata.combining(char))
