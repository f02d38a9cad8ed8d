"""Compares two results, except for values that differ between runs over one transport."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child

VARYING: Final = "(varies)"


def varying(one: Any, other: Any, pointer: str = "") -> Iterator[str]:
    """Pointers to the strings and numbers that differ, and to values whose structure differs.

    The structure of a result must not vary: `is_leaf` distinguishes the two cases.
    """
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from varying(one[name], other[name], child(pointer, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from varying(left, right, child(pointer, index))
    elif type(one) is not type(other) or one != other:
        yield pointer


def is_leaf(value: Any) -> bool:
    """Whether a difference at this value does not change the structure of the result."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def masked(value: Any, pointers: frozenset[str], pointer: str = "") -> Any:
    """`value` with `VARYING` at each of `pointers`."""
    if pointer in pointers:
        return VARYING
    if isinstance(value, dict):
        return {n: masked(v, pointers, child(pointer, n)) for n, v in value.items()}
    if isinstance(value, list):
        return [masked(v, pointers, child(pointer, i)) for i, v in enumerate(value)]
    return value
