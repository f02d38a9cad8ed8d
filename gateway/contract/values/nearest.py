"""Suggests the known name that is most like an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name in `known` that is most like `name`. None if none is similar."""
    found = get_close_matches(name, sorted(known), n=1)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A fix that suggests the most similar name in `known`. None if none is similar."""
    found = nearest(name, known)
    return None if found is None else f"Did you mean {found}?"


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of a message: the most similar name in `known` as a question, else `otherwise`."""
    found = nearest(name, known)
    return otherwise if found is None else f"did you mean {found}?"
