"""Which arguments no log, audit record or trace may hold, as the input schema marks them."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import pointer_of, steps
from gateway.contracts.sources import keywords

_BY_NAME: Final = frozenset({"properties", "prefixItems"})
"""Keywords that say which member or item each of their schemas describes."""
_ANY: Final = frozenset(
    {
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "unevaluatedItems",
        "contains",
    }
)
"""Keywords that describe members or items without saying which."""
_OPAQUE: Final = frozenset({"propertyNames", "contentSchema"})
"""Keywords that describe what no pointer leads to: a name, or what a text holds."""


def sensitive_pointers(schema: Any, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """JSON Pointers to the parts marked `writeOnly` or `x-sensitive`; `*` is any index or name."""
    if not isinstance(schema, dict):
        return ()
    if schema.get("writeOnly") is True or schema.get("x-sensitive") is True:
        return (pointer_of(path),)
    found = [
        pointer
        for keyword, place, member in keywords.branches(schema, "")
        for pointer in _found(keyword, place, member, path)
    ]
    return tuple(dict.fromkeys(found))


def _found(keyword: str, place: str, member: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The pointers that `member` gives, which stands at `place` under `keyword`.

    A mark hides too much rather than too little, since the schema may apply to some values only.
    """
    if keyword in _OPAQUE and sensitive_pointers(member):
        yield pointer_of(path)
    elif keyword in _BY_NAME:
        yield from sensitive_pointers(member, (*path, steps(place)[-1]))
    elif keyword in _ANY:
        yield from sensitive_pointers(member, (*path, "*"))
    elif keyword != "$defs":
        yield from sensitive_pointers(member, path)
