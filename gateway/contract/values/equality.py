"""Whether two JSON values are equal, as JSON Schema compares them."""

from typing import Any


def are_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: `1` is `1.0`, but `true` is not `1`, at any depth."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_equal, one, other))
    return bool(one == other)
