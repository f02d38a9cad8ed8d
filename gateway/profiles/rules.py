"""What clients refuse in schemas. Each rule finds a place and widens it, so that it is accepted."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.keywords import ANNOTATIONS, SCHEMA_LISTS
from gateway.profiles.inlining import DEFINITIONS, REFERENCES

# Joins schemas into one that admits at least as much, for places where clients allow no union.

Schema = dict[str, Any]

_TIGHTEST: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "minimum": max,
    "exclusiveMinimum": max,
    "minLength": max,
    "minItems": max,
    "minProperties": max,
    "maximum": min,
    "exclusiveMaximum": min,
    "maxLength": min,
    "maxItems": min,
    "maxProperties": min,
}
_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_GROUPS: Final = (
    ("contains", "minContains", "maxContains"),
    ("if", "then", "else"),
    ("prefixItems", "items"),
)
"""Keywords that mean something only together, so that they come from one schema."""
UNIONS: Final = frozenset({"allOf", "anyOf", "oneOf"})


def conjunction(first: Schema, second: Schema) -> Schema | None:
    """A schema that admits every value that both admit. None if they admit no common value.

    What one schema cannot say of both is taken of `first` alone.
    """
    types = _common_types(first.get("type"), second.get("type"))
    values = _common_values(first.get("enum"), second.get("enum"))
    if types == [] or values == []:
        return None
    merged = {**second, **first}
    for group in _GROUPS:
        if any(name in first for name in group):
            merged = {n: v for n, v in merged.items() if n not in group or n in first}
    for keyword in first.keys() & second.keys():
        merged[keyword] = _both(keyword, first[keyword], second[keyword])
    if types is not None:
        merged["type"] = types[0] if len(types) == 1 else types
    if values is not None:
        merged["enum"] = values
    return merged


def union_of_objects(schemas: Sequence[Schema]) -> Schema:
    """An object schema that admits every object that one of `schemas` admits.

    None of them has `allOf` or `anyOf`. A member that not every schema declares is optional.
    """
    names = dict.fromkeys(name for each in schemas for name in each.get("properties", ()))
    required = [
        name
        for name in (schemas[0].get("required", ()) if schemas else ())
        if all(name in each.get("required", ()) for each in schemas)
    ]
    union: Schema = {"type": "object", "properties": {n: _member(n, schemas) for n in names}}
    if required:
        union["required"] = required
    if schemas and all(_is_closed(each) for each in schemas):
        union["additionalProperties"] = False
    return union


def as_object(schema: Schema) -> Schema:
    """An object schema without unions that admits every object that `schema` admits."""
    base = {name: value for name, value in schema.items() if name not in UNIONS}
    merged = conjunction({**base, "type": "object"}, {}) or {"type": "object"}
    for branch in schema.get("allOf", ()):
        if isinstance(branch, dict):
            merged = conjunction(merged, _without_notes(as_object(branch))) or merged
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            merged = conjunction(merged, _alternatives(schema[keyword])) or merged
    return merged


def _alternatives(branches: Iterable[Any]) -> Schema:
    """The union of the branches that admit objects. All objects, if one admits them all."""
    found: list[Schema] = []
    for branch in branches:
        if branch is True:
            return {}
        if isinstance(branch, dict) and _admits_objects(branch):
            found.append(as_object(branch))
    return union_of_objects(found) if found else {}


def _is_closed(schema: Schema) -> bool:
    """Whether an object has only the members that `properties` declares."""
    return schema.get("additionalProperties") is False and "patternProperties" not in schema


def _admits_objects(schema: Schema) -> bool:
    return _common_types(schema.get("type"), "object") != []


def _without_notes(schema: Schema) -> Schema:
    return {name: value for name, value in schema.items() if name not in ANNOTATIONS}


def _member(name: str, schemas: Sequence[Schema]) -> Any:
    """What at least one of `schemas` admits as the member `name`."""
    found: list[Any] = []
    described: str | None = None
    is_any = False
    for each in schemas:
        member = each.get("properties", {}).get(name)
        if isinstance(member, dict) and described is None:
            described = member.get("description")
        if member is None:
            member = True if "patternProperties" in each else each.get("additionalProperties", True)
        is_any = is_any or member is True or member == {}
        if member is not False and member not in found:
            found.append(member)
    if is_any:
        return {} if described is None else {"description": described}
    if not found:
        return False
    return found[0] if len(found) == 1 else {"anyOf": found}


def _both(keyword: str, first: Any, second: Any) -> Any:
    """The value of `keyword` for values that must satisfy `first` and `second`."""
    if first == second:
        return first
    if keyword in _TIGHTEST:
        return _TIGHTEST[keyword](first, second)
    if keyword in {"required", "allOf"}:
        return [*first, *(each for each in second if each not in first)]
    if keyword in _MAPS:
        return {
            name: _all_of(first.get(name, True), second.get(name, True))
            for name in dict.fromkeys((*first, *second))
        }
    return False if keyword == "additionalProperties" and second is False else first


def _all_of(first: Any, second: Any) -> Any:
    if first is True or first == second:
        return second
    if second is True:
        return first
    if first is False or second is False:
        return False
    return {"allOf": [first, second]}


def _common_types(first: Any, second: Any) -> list[str] | None:
    """The types of both. None if neither says one."""
    if first is None or second is None:
        found = first if second is None else second
        return None if found is None else [found] if isinstance(found, str) else list(found)
    one = [first] if isinstance(first, str) else first
    other = [second] if isinstance(second, str) else second
    common = [name for name in one if name in other]
    if "integer" in one and "number" in other and "integer" not in common:
        common.append("integer")
    if "integer" in other and "number" in one and "integer" not in common:
        common.append("integer")
    return common


def _common_values(first: Any, second: Any) -> list[Any] | None:
    """The values of both enumerations. None if there is none."""
    if first is None or second is None:
        found = first if second is None else second
        return None if found is None else list(found)
    return [value for value in first if value in second]


# What clients refuse in schemas. Each rule finds a place and widens it, so that it is accepted.

_AT_ROOT: Final = ("oneOf", "anyOf", "allOf", "enum", "const", "not")
_LOCAL: Final = "#/$defs/"
_MEMBER: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_BOOLEAN: Final = frozenset({"items", "contains", "not", "if", "then", "else", "propertyNames"})


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
        elif keyword in SCHEMA_LISTS or keyword == "properties":
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
