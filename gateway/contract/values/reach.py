"""Counts how often a validator reaches one place of a value.

A validator follows a reference each time it meets it. So a chain of definitions, each of which
names the next one twice, takes 2^n steps for one value. It remembers the verdicts of definitions
that contain themselves, but lists their errors once for each way to them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gateway.contract.values.definitions import PREFIX, names_in

_CAP: Final = 10**9
"""Counts are not larger."""
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("if", "then", "else", "not")

_ONLY_REFERS: Final = frozenset({"$ref"})

_Place = tuple[str, str | int | None]
"""A member, its name, or an item. None: each of them."""
_EACH: Final[Mapping[str, _Place]] = {
    "additionalProperties": ("member", None),
    "unevaluatedProperties": ("member", None),
    "propertyNames": ("name", None),
    "items": ("item", None),
    "contains": ("item", None),
    "unevaluatedItems": ("item", None),
}


class _Counts:
    """How often a schema reaches its own place, and the worst place below each member and item."""

    __slots__ = ("here", "inside")

    def __init__(self, here: int) -> None:
        self.here = here
        self.inside: dict[_Place, int] = {}

    def add(self, other: "_Counts") -> None:
        self.here = min(self.here + other.here, _CAP)
        for place, count in other.inside.items():
            self.add_below(place, count)

    def add_below(self, place: _Place, count: int) -> None:
        self.inside[place] = min(self.inside.get(place, 0) + count, _CAP)

    def worst(self) -> int:
        found = self.here
        for (kind, name), count in self.inside.items():
            of_each = 0 if name is None else self.inside.get((kind, None), 0)
            found = max(found, count + of_each)
        return min(found, _CAP)


class Reach:
    """The counts of schemas that share `definitions`. Each definition is counted once."""

    def __init__(self, definitions: Mapping[str, Any], once: Iterable[str] = ()) -> None:
        """With names in `once`, only references to those count, and they are not followed."""
        self._definitions = definitions
        self._known = {name: _Counts(1) for name in once}
        self._own = 0 if self._known else 1

    def of(self, schema: Any) -> int:
        """How often `schema` reaches the place of a value that it reaches most often.

        A definition that leads back to itself counts once.
        """
        for name in names_in(schema):
            self._learn(name)
        return self._counts(schema).worst()

    def _learn(self, first: str) -> None:
        """Count a definition, after those that it needs: there may be thousands in a row."""
        waiting = [(first, False)]
        while waiting:
            name, others_are_known = waiting.pop()
            definition = self._definitions.get(name)
            if others_are_known:
                self._known[name] = self._counts(definition)
            elif name not in self._known:
                self._known[name] = _Counts(1)
                waiting.append((name, True))
                waiting.extend((other, False) for other in names_in(definition))

    def _counts(self, node: Any) -> _Counts:
        if not isinstance(node, dict):
            return _Counts(self._own)
        found = _Counts(0 if node.keys() == _ONLY_REFERS else self._own)
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            for name in names_in({"$ref": reference}):
                found.add(self._known[name])
        for inner in _here(node):
            found.add(self._counts(inner))
        for place, inner in _inside(node):
            found.add_below(place, self._counts(inner).worst())
        return found


def _here(node: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that hold for the same place."""
    for keyword in _LISTS:
        yield from node.get(keyword, ())
    yield from (node[keyword] for keyword in _SINGLE if keyword in node)
    yield from node.get("dependentSchemas", {}).values()


def _inside(node: Mapping[str, Any]) -> Iterator[tuple[_Place, Any]]:
    """The schemas that hold for members and items, with their places."""
    for name, inner in node.get("properties", {}).items():
        yield ("member", name), inner
    for inner in node.get("patternProperties", {}).values():
        yield ("member", None), inner
    for number, inner in enumerate(node.get("prefixItems", ())):
        yield ("item", number), inner
    for keyword, place in _EACH.items():
        if keyword in node:
            yield place, node[keyword]
