"""What clients refuse in schemas. Each rule finds a place and widens it, so that it is accepted."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.profiles.inlining import DEFINITIONS, REFERENCES
from gateway.profiles.merging import as_object

Schema = dict[str, Any]

_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "enum", "const", "not")
_LOCAL: Final = "#/$defs/"
_MEMBER: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_BOOLEAN: Final = frozenset({"items", "contains", "not", "if", "then", "else", "propertyNames"})
_LISTS: Final = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})


class SchemaRule(Struct, frozen=True, kw_only=True):
    """A form of schemas that a client refuses."""

    id: str
    meaning: str
    """What is true for every schema that the client accepts."""
    found: Callable[[Schema], Iterator[str]]
    """The keywords of a schema that break the rule. Empty for the schema itself."""
    widened: Callable[[Schema], Schema] | None = None
    """The schema in a form that follows the rule. None: references are replaced before."""
    is_root: bool = False
    """Whether only the root of a schema is checked."""


def _no_object(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "type" if "type" in schema else ""


def _unions_at_root(schema: Schema) -> Iterator[str]:
    yield from (keyword for keyword in _AT_ROOT if keyword in schema)


def _plain_root(schema: Schema) -> Schema:
    plain = as_object(schema)
    return {name: value for name, value in plain.items() if name not in _AT_ROOT}


def _references(schema: Schema) -> Iterator[str]:
    yield from sorted(schema.keys() & (REFERENCES | DEFINITIONS))


def _references_elsewhere(schema: Schema) -> Iterator[str]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and not reference.startswith(_LOCAL):
        yield "$ref"


def _bad_members(schema: Schema) -> Iterator[str]:
    if any(not _MEMBER.fullmatch(name) for name in schema.get("properties", ())):
        yield "properties"


def _has_type(schema: Schema, name: str) -> bool:
    found = schema.get("type")
    return found == name or (isinstance(found, list) and name in found)


def _without_properties(schema: Schema) -> Iterator[str]:
    if _has_type(schema, "object") and "properties" not in schema:
        yield "type"


def _with_properties(schema: Schema) -> Schema:
    return {**schema, "properties": {}} if list(_without_properties(schema)) else schema


def _without_items(schema: Schema) -> Iterator[str]:
    if _has_type(schema, "array") and "items" not in schema:
        yield "type"


def _with_items(schema: Schema) -> Schema:
    return {**schema, "items": {}} if list(_without_items(schema)) else schema


def _booleans(schema: Schema) -> Iterator[str]:
    for keyword, value in schema.items():
        if keyword in _BOOLEAN:
            if isinstance(value, bool):
                yield keyword
        elif keyword in _LISTS or keyword == "properties":
            members = value.values() if isinstance(value, dict) else value
            if True in map(_is_boolean, members):
                yield keyword


def _is_boolean(value: Any) -> bool:
    return value is True or value is False


def _without_booleans(schema: Schema) -> Schema:
    changed = dict(schema)
    for keyword in _booleans(schema):
        value = schema[keyword]
        if isinstance(value, bool):
            changed[keyword] = _as_schema(value)
        elif isinstance(value, list):
            changed[keyword] = [_as_schema(each) for each in value]
        else:
            changed[keyword] = {name: _as_schema(each) for name, each in value.items()}
    return changed


def _as_schema(value: Any) -> Any:
    """A schema that means the same and is an object."""
    return ({} if value else {"not": {}}) if isinstance(value, bool) else value


ROOT_OBJECT: Final = SchemaRule(
    id="root/object",
    meaning="The root of a schema has `type: object`.",
    found=_no_object,
    widened=_plain_root,
    is_root=True,
)
ROOT_UNION: Final = SchemaRule(
    id="root/union",
    meaning="The root of a schema has no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not`.",
    found=_unions_at_root,
    widened=_plain_root,
    is_root=True,
)
MEMBER_NAME: Final = SchemaRule(
    id="root/member-name",
    meaning="Names of arguments are 1 to 64 letters, digits and `_.-`.",
    found=_bad_members,
    is_root=True,
)
NO_REFERENCE: Final = SchemaRule(
    id="schema/reference",
    meaning="A schema has no `$ref` and no `$defs`.",
    found=_references,
)
LOCAL_REFERENCE: Final = SchemaRule(
    id="schema/reference-elsewhere",
    meaning="A `$ref` begins with `#/$defs/`.",
    found=_references_elsewhere,
)
OBJECT_PROPERTIES: Final = SchemaRule(
    id="schema/object-properties",
    meaning="An object has `properties`.",
    found=_without_properties,
    widened=_with_properties,
)
ARRAY_ITEMS: Final = SchemaRule(
    id="schema/array-items",
    meaning="An array has `items`.",
    found=_without_items,
    widened=_with_items,
)
NO_BOOLEAN: Final = SchemaRule(
    id="schema/boolean",
    meaning="A subschema is an object, not `true` or `false` (but `additionalProperties` can be).",
    found=_booleans,
    widened=_without_booleans,
)
RULES: Final[Mapping[str, SchemaRule]] = {
    rule.id: rule
    for rule in (
        ROOT_OBJECT,
        ROOT_UNION,
        MEMBER_NAME,
        NO_REFERENCE,
        LOCAL_REFERENCE,
        OBJECT_PROPERTIES,
        ARRAY_ITEMS,
        NO_BOOLEAN,
    )
}
