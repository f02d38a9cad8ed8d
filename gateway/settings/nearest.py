"""What a mistyped name was probably meant to be."""

from collections.abc import Collection
from difflib import get_close_matches


def nearest(word: str, known: Collection[str]) -> str:
    """A hint such as `; did you mean port?`, empty when nothing is near."""
    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
