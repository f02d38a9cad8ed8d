"""The known name that a wrong one was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` most like `name`; None when none is like it."""
    found = get_close_matches(name, list(known), n=1)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A fix that asks for the nearest of `known`; None when there is nothing near."""
    found = nearest(name, known)
    return None if found is None else f"Did you mean {found}?"
