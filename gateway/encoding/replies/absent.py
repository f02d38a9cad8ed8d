"""Nulls in replies where the document has no null: these members are taken to be absent."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.encoding.shapes import Schema, Shapes

_NULL: Final = "null"


class AbsentNulls:
    """Leaves members that are null out of values of one document's schemas."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._shapes = Shapes(definitions)

    def without(self, value: Any, schema: Schema) -> Any:
        """`value` without each optional member that is null and that `schema` describes without
        null. In a union, a member stays if one branch that describes it admits null."""
        if isinstance(value, dict):
            return self._object(value, schema)
        if isinstance(value, list):
            return [
                self.without(each, _any_of(self._items(schema, index)))
                for index, each in enumerate(value)
            ]
        return value

    def _object(self, value: dict[str, Any], schema: Schema) -> dict[str, Any]:
        required = self._shapes.required(schema)
        parts = [*self._shapes.parts(schema)]
        found: dict[str, Any] = {}
        for name, member in value.items():
            described = [*_members(parts, name)]
            if member is not None:
                found[name] = self.without(member, _any_of(described))
            elif name in required or not described or any(map(self._admits_null, described)):
                found[name] = None
        return found

    def _admits_null(self, schema: Schema) -> bool:
        return _NULL in self._shapes.types(schema)

    def _items(self, schema: Schema, index: int) -> Iterator[Schema]:
        for part in self._shapes.parts(schema):
            first = part.get("prefixItems", ())
            if index < len(first):
                yield first[index]
            elif "items" in part:
                yield part["items"]


def _members(parts: list[Mapping[str, Any]], name: str) -> Iterator[Schema]:
    """The schemas by which `parts` describe a member: by its name, else as one of all others."""
    for part in parts:
        if name in (named := part.get("properties", {})):
            yield named[name]
        elif "additionalProperties" in part and "patternProperties" not in part:
            yield part["additionalProperties"]


def _any_of(schemas: Iterator[Schema] | list[Schema]) -> Schema:
    found = [*schemas]
    if not found:
        return True
    return found[0] if len(found) == 1 else {"anyOf": found}
