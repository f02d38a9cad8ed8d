"""Nested values as names with brackets: the style `deepObject`.

OpenAPI defines `deepObject` for objects of primitives: `color[R]=100&color[G]=200`. What is more,
no standard defines. Here it is:

    nested object     a[b][c]=1
    list              a[0]=x&a[1]=y        with the index of each item
    list in an object, in a query          a[b]=1&a[b]=2
    list of lists or objects               a[b][0][c]=1

Servers that read brackets at all (PHP, Node's qs, Stripe) read the first, the second and the last.
The third is how OpenAPI tools write lists of primitives in a `deepObject` parameter.
"""

from collections.abc import Iterator
from typing import Any

from gateway.contract.values.pointers import child
from gateway.encoding.escapes import refusal
from gateway.encoding.texts import refuse_empty, text_of


def bracketed(
    name: str, value: Any, pointer: str, *, repeats: bool
) -> Iterator[tuple[str, str, str]]:
    """The name, text and pointer of each primitive in `value`.

    `repeats`: lists of primitives inside an object repeat their name. Raises `InvalidArguments`.
    """
    if type(value) is list:
        refuse_empty(value, pointer)
        for index, item in enumerate(value):
            place = child(pointer, index)
            yield from bracketed(f"{name}[{index}]", item, place, repeats=repeats)
    elif type(value) is dict:
        yield from _members(name, value, pointer, repeats=repeats)
    else:
        yield name, text_of(value, pointer), pointer


def _members(
    name: str, value: dict[str, Any], pointer: str, *, repeats: bool
) -> Iterator[tuple[str, str, str]]:
    refuse_empty(value, pointer)
    for key, item in value.items():
        place = child(pointer, key)
        if not key or "[" in key or "]" in key:
            raise refusal(place, "a name that is empty or contains a bracket cannot be sent here")
        own = f"{name}[{key}]"
        if repeats and type(item) is list and _is_flat(item):
            refuse_empty(item, place)
            for index, each in enumerate(item):
                inner = child(place, index)
                yield own, text_of(each, inner), inner
        else:
            yield from bracketed(own, item, place, repeats=repeats)


def _is_flat(items: list[Any]) -> bool:
    return all(type(item) is not dict and type(item) is not list for item in items)
