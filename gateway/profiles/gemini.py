"""The schemas that Gemini's function declarations accept: a part of OpenAPI 3.0's Schema Object.

Gemini refuses a request with any other keyword, and some of its backends answer nothing instead.
What a schema can no longer say is said in its description.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gateway.profiles.inlining import noted
from gateway.profiles.rules import UNIONS, SchemaRule, conjunction, union_of_objects

Schema = dict[str, Any]

KEYWORDS: Final = frozenset(
    {
        "anyOf",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        "properties",
        "required",
        "title",
        "type",
    }
)
FORMATS: Final = frozenset({"date-time", "double", "float", "int32", "int64"})
_NOTES: Final = frozenset({"title", "description", "default"})
_MAX_ALTERNATIVES: Final = 8
_MAX_LISTED: Final = 20
_OF_TYPES: Final = {
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "number": frozenset({"minimum", "maximum"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "minProperties", "maxProperties"}),
}
_OWN: Final = {"integer": "number"}
_NAMES: Final = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _keywords(schema: Schema) -> Iterator[str]:
    yield from sorted(schema.keys() - KEYWORDS)


def _type_lists(schema: Schema) -> Iterator[str]:
    if isinstance(schema.get("type"), list):
        yield "type"


def _values(schema: Schema) -> Iterator[str]:
    if "enum" not in schema:
        return
    is_text = all(isinstance(value, str) and value for value in schema["enum"])
    if schema.get("type") != "string" or not is_text:
        yield "enum"


def _formats(schema: Schema) -> Iterator[str]:
    if "format" in schema and schema["format"] not in FORMATS:
        yield "format"


def _crowded_unions(schema: Schema) -> Iterator[str]:
    if "anyOf" in schema and schema.keys() - {"anyOf"}:
        yield "anyOf"


def _undeclared(schema: Schema) -> Iterator[str]:
    members = schema.get("properties", {})
    if any(name not in members for name in schema.get("required", ())):
        yield "required"


def _widened(schema: Schema) -> Schema:
    found = _alternatives(schema)
    objects = [each for each in found if each.get("type") == "object"]
    if len(found) > _MAX_ALTERNATIVES and len(objects) > 1:
        found = [*(each for each in found if each not in objects), union_of_objects(objects)]
    if len(found) > _MAX_ALTERNATIVES:
        found = [{}]
    notes = {name: schema[name] for name in _NOTES if name in schema}
    if len(found) == 1:
        return _sayable({**found[0], **notes})
    first = {**found[0], **{n: v for n, v in notes.items() if n != "default"}}
    return {"anyOf": [_sayable(each) for each in (first, *found[1:])]}


def _alternatives(schema: Schema) -> list[Schema]:
    """Schemas without unions and lists of types. Together they admit all that `schema` admits."""
    base = {name: value for name, value in schema.items() if name not in UNIONS}
    found = _of_one_type(_with_enum(base))
    for branch in schema.get("allOf", ()):
        if isinstance(branch, dict):
            found = _pairs(found, _alternatives(branch))
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, ())
        if branches and all(isinstance(each, dict) for each in branches):
            found = _pairs(found, [each for part in branches for each in _alternatives(part)])
    return found


def _pairs(found: Sequence[Schema], others: Sequence[Schema]) -> list[Schema]:
    """The alternatives that are valid in both."""
    if len(found) * len(others) > _MAX_ALTERNATIVES**2:
        return list(found)
    pairs = (conjunction(one, other) for one in found for other in others)
    return [each for each in pairs if each is not None] or list(found)


def _with_enum(schema: Schema) -> Schema:
    """A `const` as an `enum`."""
    if "const" not in schema:
        return schema
    rest = {name: value for name, value in schema.items() if name != "const"}
    return conjunction({"enum": [schema["const"]]}, rest) or rest


def _of_one_type(schema: Schema) -> list[Schema]:
    """`schema` as alternatives of one type each. One that says no type stays as it is."""
    if "enum" in schema:
        return _of_values(schema)
    kind = schema.get("type")
    if not isinstance(kind, list):
        return [schema]
    return [{**schema, "type": name} for name in kind]


def _of_values(schema: Schema) -> list[Schema]:
    """One alternative for each type of the values of an enumeration."""
    groups: dict[str, list[Any]] = {}
    for value in schema["enum"]:
        groups.setdefault(_type_of(value), []).append(value)
    rest = {name: value for name, value in schema.items() if name != "enum"}
    found = [
        conjunction({"type": name, "enum": values}, rest) or {**rest, "type": name}
        for name, values in groups.items()
    ]
    return found or [rest]


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return "object" if isinstance(value, dict) else "array"
    if isinstance(value, float) and value.is_integer():
        return "number"
    return _NAMES[type(value)]


def _sayable(schema: Schema) -> Schema:
    """`schema` with Gemini's keywords only. It has no union and one type at most."""
    found = _with_values(_with_bounds(_with_plain_items(schema)))
    if "format" in found and found["format"] not in FORMATS:
        is_text = found.get("type", "string") == "string"
        found = noted(found, f"Format: {found['format']}.") if is_text else dict(found)
        del found["format"]
    if found.get("uniqueItems") is True:
        found = noted(found, "No item occurs twice.")
    members = found.get("properties", {})
    needed = [name for name in found.get("required", ()) if name in members]
    found = {**found, "required": needed}
    foreign = _foreign(found.get("type"))
    return {
        name: value
        for name, value in found.items()
        if name in KEYWORDS and name not in foreign and (needed or name != "required")
    }


def _foreign(kind: Any) -> frozenset[str]:
    """The keywords that say nothing of values of the type `kind`."""
    if kind is None:
        return frozenset()
    others = (words for name, words in _OF_TYPES.items() if name != _OWN.get(kind, kind))
    return frozenset().union(*others)


def _with_plain_items(schema: Schema) -> Schema:
    """A tuple as a list of what its items can be."""
    if "prefixItems" not in schema:
        return schema
    first, rest = schema["prefixItems"], schema.get("items", True)
    found = {**schema, "items": {}}
    if rest is False or rest == {"not": {}}:
        found["maxItems"] = min(len(first), schema.get("maxItems", len(first)))
        if all(isinstance(each, dict) for each in first) and first:
            found["items"] = first[0] if len(first) == 1 else {"anyOf": list(first)}
    elif isinstance(rest, dict) and all(isinstance(each, dict) for each in first):
        found["items"] = {"anyOf": [*first, rest]}
    return found


def _with_bounds(schema: Schema) -> Schema:
    """Exclusive bounds as inclusive ones: exact for integers, wider for numbers."""
    found = dict(schema)
    is_whole = schema.get("type") == "integer"
    low, high = found.pop("exclusiveMinimum", None), found.pop("exclusiveMaximum", None)
    if low is not None:
        bound = math.floor(low) + 1 if is_whole else low
        found["minimum"] = max(bound, found.get("minimum", bound))
        found = found if is_whole else noted(found, f"Greater than {low}.")
    if high is not None:
        bound = math.ceil(high) - 1 if is_whole else high
        found["maximum"] = min(bound, found.get("maximum", bound))
        found = found if is_whole else noted(found, f"Less than {high}.")
    return found


def _with_values(schema: Schema) -> Schema:
    """An enumeration that Gemini cannot say, as bounds and a note."""
    if "enum" not in schema or not list(_values(schema)):
        return schema
    values = schema["enum"]
    found = {name: value for name, value in schema.items() if name != "enum"}
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        found = conjunction(found, {"minimum": min(values), "maximum": max(values)}) or found
    if values == [None] or {True, False} == {value for value in values if value in (True, False)}:
        return found
    if len(values) > _MAX_LISTED:
        return found
    return noted(found, f"One of {', '.join(json.dumps(v, ensure_ascii=False) for v in values)}.")


def _rule(name: str, meaning: str, found: Any) -> SchemaRule:
    return SchemaRule(id=f"gemini/{name}", meaning=meaning, found=found, widened=_widened)


RULES: Final = (
    _rule("keyword", f"Only these keywords: {', '.join(sorted(KEYWORDS))}.", _keywords),
    _rule("one-type", "`type` is one name.", _type_lists),
    _rule("enum", "`enum` has texts that are not empty, and `type: string` beside it.", _values),
    _rule("format", f"`format` is one of {', '.join(sorted(FORMATS))}.", _formats),
    _rule("any-of", "Beside `anyOf` there is no other keyword.", _crowded_unions),
    _rule("required", "Each name in `required` is in `properties`.", _undeclared),
)
