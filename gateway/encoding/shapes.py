"""Which JSON types and members the schema of an argument admits."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.values.pointers import steps

Schema = Mapping[str, Any] | bool

PRIMITIVES: Final = frozenset({"string", "number", "integer", "boolean"})
_TYPES: Final = PRIMITIVES | {"array", "object", "null"}
_MAX_DEPTH: Final = 32
"""Of references and alternatives inside each other. Whatever is deeper is taken to admit all."""
_TYPE_NAMES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


class Names(Struct, frozen=True):
    """The names of an object's members."""

    declared: frozenset[str]
    is_open: bool
    """Whether other names are admitted as well."""


class Shapes:
    """Reads the schemas of one document. `definitions` is what `#/$defs/<name>` refers to."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._types: dict[str, frozenset[str]] = {}
        """By reference."""

    def types(self, schema: Schema, depth: int = 0) -> frozenset[str]:
        """The JSON types of which `schema` may admit values. Never too few."""
        if not isinstance(schema, Mapping):
            return _TYPES if schema else frozenset()
        if depth > _MAX_DEPTH:
            return _TYPES
        found = _own_types(schema)
        if "$ref" in schema:
            found &= self._types_at(schema["$ref"], depth + 1)
        for each in schema.get("allOf", ()):
            found &= self.types(each, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                union = (self.types(each, depth + 1) for each in schema[keyword])
                found &= frozenset[str]().union(*union)
        return found

    def _types_at(self, reference: str, depth: int) -> frozenset[str]:
        if reference not in self._types:
            # For a schema that refers to itself: it adds no condition of its own.
            self._types[reference] = _TYPES
            self._types[reference] = self.types(self._target(reference), depth)
        return self._types[reference]

    def parts(self, schema: Schema) -> Iterator[Mapping[str, Any]]:
        """`schema` and all schemas that it combines: references, `allOf`, `anyOf`, `oneOf`.

        Each reference is followed once.
        """
        return self._parts(schema, 0, set())

    def _parts(self, schema: Schema, depth: int, passed: set[str]) -> Iterator[Mapping[str, Any]]:
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return
        yield schema
        reference = schema.get("$ref")
        if reference is not None and reference not in passed:
            passed.add(reference)
            yield from self._parts(self._target(reference), depth + 1, passed)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for each in schema.get(keyword, ()):
                yield from self._parts(each, depth + 1, passed)

    def resolved(self, schema: Schema) -> Schema:
        """What a schema that is only a reference refers to. Others are returned as they are."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(schema, Mapping) or schema.keys() != {"$ref"}:
                break
            schema = self._target(schema["$ref"])
        return schema

    def names(self, schema: Schema) -> Names:
        """The names that objects of `schema` may have."""
        declared: set[str] = set()
        is_closed = False
        for part in self.parts(schema):
            declared.update(part.get("properties", ()))
            is_closed |= part.get("additionalProperties", True) is False
        return Names(frozenset(declared), not is_closed)

    def properties(self, schema: Schema) -> dict[str, Schema]:
        """The schema of each declared property. Of several, the first one."""
        found: dict[str, Schema] = {}
        for part in self.parts(schema):
            for name, each in part.get("properties", {}).items():
                found.setdefault(name, each)
        return found

    def required(self, schema: Schema) -> frozenset[str]:
        """The names that every object of `schema` has."""
        return self._required(schema, 0, set())

    def _required(self, schema: Schema, depth: int, passed: set[str]) -> frozenset[str]:
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return frozenset()
        found = set(schema.get("required", ()))
        reference = schema.get("$ref")
        if reference is not None and reference not in passed:
            passed.add(reference)
            found |= self._required(self._target(reference), depth + 1, passed)
        for each in schema.get("allOf", ()):
            found |= self._required(each, depth + 1, passed)
        return frozenset(found)

    def items(self, schema: Schema) -> Schema:
        """The schema of the items of lists. True if there is none, or there are several."""
        found = [part["items"] for part in self.parts(schema) if "items" in part]
        return found[0] if len(found) == 1 else True

    def _target(self, reference: str) -> Schema:
        """The schema that `reference` names. True if it is not in the definitions."""
        if not reference.startswith("#/$defs/"):
            return True
        found: Any = self._definitions
        for step in steps(reference)[1:]:
            if not isinstance(found, Mapping) or step not in found:
                return True
            found = found[step]
        return found if isinstance(found, Mapping | bool) else True


def _own_types(schema: Mapping[str, Any]) -> frozenset[str]:
    declared = schema.get("type")
    found = _TYPES
    if isinstance(declared, str):
        found = frozenset({declared})
    elif isinstance(declared, list):
        found = frozenset(declared)
    if "number" in found:
        found |= {"integer"}
    if "const" in schema:
        return found & _types_of([schema["const"]])
    if "enum" in schema:
        return found & _types_of(schema["enum"])
    return found


def _types_of(values: list[Any]) -> frozenset[str]:
    found = frozenset(_TYPE_NAMES[type(value)] for value in values)
    return found | {"number", "integer"} if found & {"number", "integer"} else found
