"""What a schema says of the form of its values, through references and combinations."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gateway.backends.mock.samples.errors import NoSample
from gateway.backends.mock.samples.flattening import Flattener

_COMBINED: Final = ("allOf", "anyOf", "oneOf")
Place = tuple[str, ...]
"""Names of members, from the root of a value."""


class SchemaShapes:
    """Answers questions about the schemas of one document."""

    def __init__(self, flattener: Flattener) -> None:
        self._flattener = flattener

    def properties(self, schema: Any) -> dict[str, Any]:
        """The schema of each property that is declared anywhere in `schema`."""
        found: dict[str, Any] = {}
        for part in self._parts(schema):
            for name, each in part.get("properties", {}).items():
                found.setdefault(name, each)
        return found

    def items(self, schema: Any) -> Any:
        """The schema of the items, or None if the values are no arrays."""
        return next((part["items"] for part in self._parts(schema) if "items" in part), None)

    def types(self, schema: Any) -> frozenset[str]:
        """The types that are named, none if every type is allowed."""
        named: set[str] = set()
        for part in self._parts(schema):
            types = part.get("type", ())
            named |= {types} if isinstance(types, str) else set(types)
        return frozenset(named)

    def uses(self, schema: Any, keywords: Iterable[str]) -> bool:
        """Whether one of the keywords is used anywhere in `schema` for the value itself."""
        return any(keyword in part for part in self._parts(schema) for keyword in keywords)

    def at(self, schema: Any, place: Place) -> Any:
        """The schema of the member at `place`, or None if it is not declared."""
        for name in place:
            schema = self.properties(schema).get(name)
        return schema

    def _parts(self, schema: Any) -> Iterator[dict[str, Any]]:
        """`schema`, and every schema that it refers to or combines, each once."""
        seen: set[str] = set()
        waiting = [schema]
        while waiting:
            node = waiting.pop(0)
            if not isinstance(node, dict):
                continue
            yield node
            waiting += [each for keyword in _COMBINED for each in node.get(keyword, ())]
            reference = node.get("$ref")
            if reference is not None and reference not in seen:
                seen.add(reference)
                waiting.append(self._target(reference))

    def _target(self, reference: str) -> Any:
        try:
            return self._flattener.target(reference)
        except NoSample:
            return None
