"""Which members of a contract are schemas, which are names, and which are plain data.

A `$ref` is a reference only where an object is expected: not inside an example, and not where a
property happens to be called `$ref`. JSON Schema 2020-12 §10-11; OpenAPI 3.1.1 §4.8.
"""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child

SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
"""Keywords whose members are names of the author's choice, each holding a schema."""
SCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
SCHEMA_VALUES: Final = frozenset(
    {
        "additionalProperties",
        "items",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    }
)
ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "x-sensitive",
        "$comment",
    }
)
"""Keywords that never refuse a value; the only ones that may stand beside `$ref`."""
NAME_MAPS: Final = SCHEMA_MAPS | {
    "callbacks",
    "content",
    "encoding",
    "headers",
    "links",
    "parameters",
    "paths",
    "pathItems",
    "requestBodies",
    "responses",
    "schemas",
    "securitySchemes",
    "tables",
    "variables",
    "webhooks",
}
"""Members of schemas, of OpenAPI objects and of `x-upstream` whose own members are names."""
DATA: Final = frozenset(
    {
        "const",
        "enum",
        "default",
        "example",
        "examples",
        "dependentRequired",
        "required",
        "x-binding",
        "x-entity",
        "x-mcp",
        "x-policy",
        "x-table",
    }
)
"""Members whose content is never a reference."""


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object in `schema`, itself first, each with its pointer, in file order."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for _, place, member in branches(schema, pointer):
        yield from subschemas(member, place)


def branches(schema: dict[str, Any], pointer: str) -> Iterator[tuple[str, str, Any]]:
    """What stands directly under the keywords of `schema`: keyword, pointer, subschema."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_VALUES:
            yield keyword, child(pointer, keyword), value
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            place = child(pointer, keyword)
            yield from ((keyword, child(place, index), each) for index, each in enumerate(value))
        elif keyword in SCHEMA_MAPS and isinstance(value, dict):
            place = child(pointer, keyword)
            yield from ((keyword, child(place, name), each) for name, each in value.items())


def references(value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in `value` that holds a `$ref`, with the object's pointer, in file order."""
    yield from _references(value, pointer, is_map=False)


def _references(value: Any, pointer: str, *, is_map: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, child(pointer, index), is_map=False)
    if not isinstance(value, dict):
        return
    if not is_map and "$ref" in value:
        yield pointer, value
    for name, member in value.items():
        if is_map or name not in DATA:
            place = child(pointer, name)
            yield from _references(member, place, is_map=not is_map and name in NAME_MAPS)
