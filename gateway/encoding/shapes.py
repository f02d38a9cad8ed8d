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

    def types(self, schema: Schema, depth: int = 0) -> frozenset[str]:
        """The JSON types of which `schema` may admit values. Never too few."""
        if not isinstance(schema, Mapping):
            return _TYPES if schema else frozenset()
        if depth > _MAX_DEPTH:
            return _TYPES
        found = _own_types(schema)
        if "$ref" in schema:
            found &= self.types(self._target(schema["$ref"]), depth + 1)
        for each in schema.get("allOf", ()):
            found &= self.types(each, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                union = (self.types(each, depth + 1) for each in schema[keyword])
                found &= frozenset[str]().union(*union)
        return found

    def parts(self, schema: Schema, depth: int = 0) -> Iterator[Mapping[str, Any]]:
        """`schema` and all schemas that it combines: references, `allOf`, `anyOf`, `oneOf`."""
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return
        yield schema
        if "$ref" in schema:
            yield from self.parts(self._target(schema["$ref"]), depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for each in schema.get(keyword, ()):
                yield from self.parts(each, depth + 1)

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

    def required(self, schema: Schema, depth: int = 0) -> frozenset[str]:
        """The names that every object of `schema` has."""
        if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
            return frozenset()
        found = set(schema.get("required", ()))
        if "$ref" in schema:
            found |= self.required(self._target(schema["$ref"]), depth + 1)
        for each in schema.get("allOf", ()):
            found |= self.required(each, depth + 1)
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
