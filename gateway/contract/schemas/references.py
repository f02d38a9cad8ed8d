"""Schemas that contain themselves: they refer to their definitions, as `#/$defs/<name>`."""

from typing import Any, Final

import msgspec

from gateway.contract.values.schema import DATA, MAPS, PREFIX, with_definitions

_DEFINITIONS: Final = "$defs"

Schema = dict[str, Any]


def written_out(schema: Schema) -> Schema:
    """`schema`, or what it refers to if it is a reference, with its definitions."""
    while _DEFINITIONS in schema and "$ref" in schema:
        definitions = schema[_DEFINITIONS]
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        schema = {**definitions[schema["$ref"].removeprefix(PREFIX)], **beside}
    return schema


def part(whole: Schema, schema: Any) -> Any:
    """The subschema `schema` of `whole`, with the definitions that it needs."""
    definitions = whole.get(_DEFINITIONS)
    if definitions is None or not isinstance(schema, dict):
        return schema
    found = with_definitions(schema, definitions)
    return written_out(found) if isinstance(found, dict) else found


def gathered(schemas: list[Schema]) -> tuple[list[Schema], Schema]:
    """`schemas` without their definitions, and a schema with the definitions of all of them.

    Definitions of one name are the same: they are named by the file that declares them.
    """
    definitions: dict[str, Any] = {}
    for each in schemas:
        definitions |= each.get(_DEFINITIONS, {})
    if not definitions:
        return schemas, {}
    parts = [
        {name: value for name, value in each.items() if name != _DEFINITIONS} for each in schemas
    ]
    return parts, {_DEFINITIONS: definitions}


def list_of(schema: Schema) -> Schema:
    """The schema of lists of values of `schema`."""
    (items,), definitions = gathered([schema])
    return {"type": "array", "items": items, **definitions}


def opened(schema: Schema) -> Schema:
    """A schema that admits all that `schema` admits, with definitions that admit everything."""
    schema = written_out(schema)
    if _DEFINITIONS not in schema:
        return schema
    return {**schema, _DEFINITIONS: dict.fromkeys(schema[_DEFINITIONS], True)}


class SameSchemas:
    """Compares two schemas by their text, whatever their definitions are called."""

    def __init__(self, one: Schema, other: Schema) -> None:
        self._one = one.get(_DEFINITIONS, {})
        self._other = other.get(_DEFINITIONS, {})
        self._assumed: set[tuple[str, str]] = set()

    def are_equal(self, one: Any, other: Any, *, is_map: bool = False) -> bool:
        """Whether the parts `one` and `other` are equal. `is_map`: their members are no keywords.

        Definitions that refer to themselves are equal if nothing inside them differs.
        """
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self.are_equal, one, other))
        if not isinstance(one, dict) or not isinstance(other, dict):
            return type(one) is type(other) and bool(one == other)
        names = one.keys() - {_DEFINITIONS}
        return names == other.keys() - {_DEFINITIONS} and all(
            self._are_members_equal(name, one[name], other[name], is_map=is_map) for name in names
        )

    def _are_members_equal(self, name: str, one: Any, other: Any, *, is_map: bool) -> bool:
        if is_map:
            return self.are_equal(one, other)
        if name == "$ref":
            return self._are_targets_equal(one.removeprefix(PREFIX), other.removeprefix(PREFIX))
        if name in DATA:
            # Python holds true and 1 to be equal.
            return msgspec.json.encode(one) == msgspec.json.encode(other)
        return self.are_equal(one, other, is_map=name in MAPS)

    def _are_targets_equal(self, one: str, other: str) -> bool:
        if (one, other) in self._assumed:
            return True
        self._assumed.add((one, other))
        return self.are_equal(self._one[one], self._other[other])
