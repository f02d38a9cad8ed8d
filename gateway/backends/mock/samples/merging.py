"""Joins two schemas into one that admits only what both admit.

The schemas contain no `$ref`, `allOf`, `anyOf`, `oneOf` and `if` of their own: those are resolved
first. Their subschemas are joined as `{"allOf": [one, other]}`. In the result, `pattern`, `format`
and `multipleOf` are lists. Keywords that are only asserted, such as `not`, are left out: the whole
value is validated at the end.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from gateway.backends.mock.samples.errors import NoSample
from gateway.contract.values.formats import ANNOTATED
from gateway.contract.values.schema import matcher

Schema: TypeAlias = dict[str, Any]
RESOLVED: Final = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"}
)
"""Keywords that `Flattener` applies before it joins."""
TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_LARGER: Final = frozenset(
    {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"}
)
_SMALLER: Final = frozenset(
    {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"}
)
_LISTED: Final = frozenset({"pattern", "format", "multipleOf"})
_BOTH: Final = frozenset({"items", "contains", "propertyNames", "unevaluatedItems"})
_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")


def own_part(schema: Mapping[str, Any]) -> Schema:
    """The keywords of `schema` itself, in the form in which they are joined."""
    found = {key: value for key, value in schema.items() if key not in RESOLVED}
    if ANNOTATED in found:
        found["format"] = found.pop(ANNOTATED)
    for keyword in _LISTED & found.keys():
        found[keyword] = [found[keyword]]
    if "type" in found:
        found["type"] = _types(found["type"])
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found


def joined(one: Schema, other: Schema) -> Schema:
    """What both admit. Raises `NoSample` if that is obviously nothing."""
    found = dict(one)
    for keyword, value in other.items():
        found[keyword] = _joined_keyword(keyword, one[keyword], value) if keyword in one else value
    properties = _properties(one, other)
    if properties:
        found["properties"] = properties
    return found


def _joined_keyword(keyword: str, one: Any, other: Any) -> Any:
    if keyword in _LARGER:
        return max(one, other)
    if keyword in _SMALLER:
        return min(one, other)
    if keyword in _LISTED:
        return [*one, *(each for each in other if each not in one)]
    if keyword in _BOTH or keyword in _CLOSING:
        return both(one, other)
    return _joined_lists(keyword, one, other)


def _joined_lists(keyword: str, one: Any, other: Any) -> Any:
    found = one
    match keyword:
        case "type":
            found = _common_types(one, other)
        case "enum":
            found = _common(one, other)
        case "required":
            found = list(dict.fromkeys([*one, *other]))
        case "uniqueItems":
            found = one or other
        case "prefixItems":
            longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
            found = [*map(both, shorter, longer), *longer[len(shorter) :]]
        case "patternProperties" | "dependentRequired":
            found = {**other, **one}
    return found


def both(one: Any, other: Any) -> Any:
    """A schema that admits what both schemas admit."""
    if one == other or other is True:
        return one
    return other if one is True else {"allOf": [one, other]}


def declared(schema: Mapping[str, Any], name: str) -> Any:
    """The schema of the property `name`, by the keywords of `schema` itself."""
    properties = schema.get("properties", {})
    matching = [
        each
        for pattern, each in schema.get("patternProperties", {}).items()
        if _matches(pattern, name)
    ]
    found = [properties[name], *matching] if name in properties else matching
    if not found:
        found = [schema[keyword] for keyword in _CLOSING if keyword in schema]
    result: Any = True
    for each in found:
        result = both(result, each)
    return result


def _properties(one: Schema, other: Schema) -> Schema:
    names: Iterable[str] = [*one.get("properties", ()), *other.get("properties", ())]
    return {name: both(_here(one, name), _here(other, name)) for name in dict.fromkeys(names)}


def _here(schema: Schema, name: str) -> Any:
    """As `declared`, but `unevaluatedProperties` does not see only its own schema."""
    return declared({k: v for k, v in schema.items() if k != "unevaluatedProperties"}, name)


def _matches(pattern: str, name: str) -> bool:
    matches = matcher(pattern)
    return matches is not None and matches(name)


def _types(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _common_types(one: list[str], other: list[str]) -> list[str]:
    found = [each for each in TYPES if _has(one, each) and _has(other, each)]
    if not found:
        raise NoSample("no type is allowed")
    return found


def _has(types: list[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _common(one: list[Any], other: list[Any]) -> list[Any]:
    found = [each for each in one if each in other]
    if not found:
        raise NoSample("no value is allowed")
    return found
