"""Which members of a contract are schemas, which are names, and which are plain data.

A member `$ref` is a reference unless it is inside plain data, such as an example, or is the name of
a property. See JSON Schema 2020-12 §10-11 and OpenAPI 3.1.1 §4.8.
"""

from collections.abc import Collection, Iterator
from typing import Any, Final

from gateway.contract.values.pointers import child

SCHEMA_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "dependentSchemas"})
"""Keywords whose members are schemas under names that the author chooses."""
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
SAME_VALUE: Final = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
)
"""Keywords whose subschemas validate the same value as the schema around them."""
NAMED_MEMBERS: Final = frozenset({"properties", "prefixItems"})
"""Keywords whose schemas describe one member or item, which is known by its name or index."""
ANY_MEMBERS: Final = frozenset(
    {
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "unevaluatedItems",
        "contains",
    }
)
"""Keywords whose schemas describe any members or items."""
ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "x-mcp-header",
        "x-sensitive",
        "$comment",
    }
)
"""Keywords that never refuse a value. Only they may be used beside `$ref`."""
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
"""Members of schemas, OpenAPI objects and `x-upstream` whose own members are names."""
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
"""Members whose content is plain data: it contains no references."""


def subschemas(schema: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema object in `schema`, itself first, each with its pointer, in file order."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for _, below, member in branches(schema, pointer):
        yield from subschemas(member, below)


def branches(schema: dict[str, Any], pointer: str) -> Iterator[tuple[str, str, Any]]:
    """The direct subschemas of `schema`, each as keyword, pointer and subschema."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_VALUES:
            yield keyword, child(pointer, keyword), value
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            below = child(pointer, keyword)
            yield from ((keyword, child(below, index), each) for index, each in enumerate(value))
        elif keyword in SCHEMA_MAPS and isinstance(value, dict):
            below = child(pointer, keyword)
            yield from ((keyword, child(below, name), each) for name, each in value.items())


def references(
    value: Any, pointer: str = "", skipped: Collection[str] = DATA
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in `value` that has a `$ref`, each with its pointer, in file order.

    The contents of the keywords `skipped` are left out.
    """
    yield from _references(value, pointer, skipped, is_map=False)


def _references(
    value: Any, pointer: str, skipped: Collection[str], *, is_map: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _references(item, child(pointer, index), skipped, is_map=False)
    if not isinstance(value, dict):
        return
    if not is_map and "$ref" in value:
        yield pointer, value
    for name, member in value.items():
        if is_map or name not in skipped:
            below, inner = child(pointer, name), not is_map and name in NAME_MAPS
            yield from _references(member, below, skipped, is_map=inner)
