"""Whether two answers are the same, except for what differs from run to run over one transport."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child

VARYING: Final = "(varies)"


def varying(one: Any, other: Any, pointer: str = "") -> Iterator[str]:
    """Pointers of the texts and numbers that differ; of a whole value whose shape differs.

    The shape of an answer may not vary: `is_shape_of` distinguishes the two.
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
    """Whether a difference here leaves the shape of the answer alone."""
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
