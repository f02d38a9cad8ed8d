"""The known name that a wrong one was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name of `known` most like `name`; None when none is like it."""
    found = get_close_matches(name, sorted(known), n=1)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A fix that asks for the nearest of `known`; None when there is nothing near."""
    found = nearest(name, known)
    return None if found is None else f"Did you mean {found}?"


def hint(name: str, known: Iterable[str], otherwise: str) -> str:
    """The end of a message: a question for the nearest of `known`, else `otherwise`."""
    found = nearest(name, known)
    return otherwise if found is None else f"did you mean {found}?"
