"""Matches texts with the patterns of documents, by the engine of the validator.

Python's own engine takes exponential time for some patterns.
"""

from collections.abc import Callable
from functools import lru_cache

from gateway.contract.values.schema import Validator


@lru_cache(maxsize=1000)
def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Whether a text has a part that `pattern` matches (ECMA-262), in linear time.

    None if the validator cannot compile it, for example because of a look-around.
    """
    try:
        return Validator({"pattern": pattern}).admits
    except ValueError:
        return None


def is_whole_match(pattern: str, text: str) -> bool:
    """Whether `pattern`, which the validator can run, matches all of `text`."""
    matches = matcher(f"^(?:{pattern})$")
    return matches is not None and matches(text)
