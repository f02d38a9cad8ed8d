"""Keeps what the validator understands of one schema object, and reports what it leaves out.

The result of `clean` has only keywords of JSON Schema 2020-12 with values of the right kind.
Leaving a keyword out never refuses a value that the schema object admits. Where more values of a
part are fewer of the whole, as under `not`, see `partial`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from gateway.contract.values.schema import ANNOTATED, FORMATS, Validator
from gateway.contracts.patterns import shared_form
from gateway.openapi.reading.dialect import positions


@lru_cache(maxsize=10_000)
def runnable(pattern: str) -> str | None:
    """`pattern` in the form that validators of clients compile and ours runs in linear time.

    None if there is no such form: of look-around and back references, for example.
    """
    form = shared_form(pattern)
    if form is None:
        return None
    try:
        Validator({"pattern": form})
    except ValueError:
        return None
    return form


Note = Callable[[str, str, str], None]
"""Gets the keyword, the rule and the message of what is left out."""

TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_COMBINING: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
BITS: Final = {"int32": 32, "int64": 64}
"""The formats that bound integers (OpenAPI Format Registry)."""
_LENGTHS: Final = {"date": 10, "uuid": 36}
"""The formats of which all texts have the same length."""
_DIRECTIONS: Final = ("readOnly", "writeOnly")
_LEFT_OUT: Final = frozenset(
    [
        "$defs",
        "definitions",
        "discriminator",
        "example",
        "externalDocs",
        "id",
        "xml",
        "contentSchema",
    ]
)
"""Keywords that are used up, or have no effect on values."""


def clean(schema: dict[str, Any], note: Note) -> dict[str, Any]:
    """`schema` without what the validator does not accept. Its subschemas are not changed."""
    cleaned = {
        keyword: value
        for keyword, value in _translated(schema, note).items()
        if _is_kept(keyword, value, note)
    }
    if "pattern" in cleaned:
        cleaned["pattern"] = runnable(cleaned["pattern"])
    _unify_lists(cleaned)
    _bound(schema, cleaned)
    _fix_enum(cleaned, note)
    _close(cleaned, note)
    _drop_format(cleaned, note)
    _drop_patterns(cleaned, note)
    if schema.get("format") == "password":
        cleaned["x-sensitive"] = True
    return cleaned


def _translated(schema: dict[str, Any], note: Note) -> dict[str, Any]:
    """`schema` with a oneOf as anyOf where a value may be valid by several branches.

    A discriminator names the branch, and a whole number is a number too.
    """
    if "oneOf" not in schema or "anyOf" in schema:
        return schema
    if "discriminator" in schema:
        message = "the discriminator decides, so `oneOf` is checked as `anyOf`"
    elif isinstance(schema["oneOf"], list) and _has_number_twice(schema["oneOf"]):
        message = "an integer is a number too, so `oneOf` is checked as `anyOf`"
    else:
        return schema
    note("oneOf", "schema/one-of", message)
    return {"anyOf" if name == "oneOf" else name: value for name, value in schema.items()}


def _has_number_twice(branches: list[Any]) -> bool:
    """Whether one branch is for integers and another one for numbers."""
    types = [each.get("type") for each in branches if isinstance(each, dict)]
    kinds = [each if isinstance(each, list) else [each] for each in types]
    whole = {at for at, each in enumerate(kinds) if "integer" in each}
    numbers = {at for at, each in enumerate(kinds) if "number" in each}
    return bool(whole and numbers) and len(whole | numbers) > 1


def _is_kept(keyword: str, value: Any, note: Note) -> bool:
    if keyword == "x-sensitive":
        return isinstance(value, bool)
    if keyword == ANNOTATED:
        return _is_known_format(value)
    if keyword.startswith("x-") or keyword in _LEFT_OUT:
        return False
    check = _CHECKS.get(keyword)
    if check is None:
        note(keyword, "schema/unknown-keyword", f"`{keyword[:40]}` is no keyword of JSON Schema")
        return False
    if check(value):
        return True
    if keyword == "pattern" and isinstance(value, str):
        message = "not every validator can run the pattern in linear time, so it is not checked"
        note(keyword, "schema/pattern", message)
    # An unknown format is an annotation, which has no effect anyway.
    elif keyword != "format":
        note(keyword, "schema/keyword", f"`{keyword}` has no valid value, so it is left out")
    return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return bool(kinds) and all(isinstance(kind, str) and kind in TYPES for kind in kinds)


def _is_names_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_names, value.values()))


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_known_format(value: Any) -> bool:
    return isinstance(value, str) and value in FORMATS


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and runnable(value) is not None


def _is_anything(_: Any) -> bool:
    return True


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(positions.VALUES, _is_schema),
    **dict.fromkeys(positions.LISTS, _is_filled_list),
    **dict.fromkeys(positions.MAPS, _is_map),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _is_count),
    **dict.fromkeys(("uniqueItems", "deprecated", *_DIRECTIONS), _is_flag),
    **dict.fromkeys(("title", "description", "contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("const", "default", "$ref"), _is_anything),
    "format": _is_known_format,
    "pattern": _is_pattern,
    "required": _is_names,
    "dependentRequired": _is_names_by_name,
    "enum": _is_filled_list,
    "examples": _is_list,
    "type": _is_type,
}


def _unify_lists(cleaned: dict[str, Any]) -> None:
    """Names and types may occur once (JSON Schema Validation §6.1.1, §6.5.3)."""
    for keyword in ("required", "type"):
        if isinstance(cleaned.get(keyword), list):
            cleaned[keyword] = list(dict.fromkeys(cleaned[keyword]))
    if "dependentRequired" in cleaned:
        cleaned["dependentRequired"] = {
            name: list(dict.fromkeys(names)) for name, names in cleaned["dependentRequired"].items()
        }
    if "enum" in cleaned:
        unique = {msgspec.json.encode(value): value for value in cleaned["enum"]}
        cleaned["enum"] = list(unique.values())


def _bound(schema: dict[str, Any], cleaned: dict[str, Any]) -> None:
    """Bounds for `format: int32` and `int64` (OpenAPI Format Registry)."""
    form = schema.get("format")
    bits = BITS.get(form) if isinstance(form, str) else None
    kinds = cleaned.get("type")
    if bits is None or "integer" not in (kinds if isinstance(kinds, list) else [kinds]):
        return
    highest = 2 ** (bits - 1) - 1
    lower, upper = cleaned.get("minimum"), cleaned.get("maximum")
    cleaned["minimum"] = -highest - 1 if lower is None else max(lower, -highest - 1)
    cleaned["maximum"] = highest if upper is None else min(upper, highest)


def _fix_enum(cleaned: dict[str, Any], note: Note) -> None:
    values, kinds = cleaned.get("enum"), cleaned.get("type")
    if values is None or kinds is None:
        return
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if any(_has_type(value, kinds) for value in values):
        return
    del cleaned["enum"]
    items = cleaned.get("items")
    if "array" in kinds and isinstance(items, dict) and "enum" not in items:
        cleaned["items"] = {**items, "enum": values}
        note("enum", "schema/enum", "the values are those of the items, so they are checked there")
    else:
        note("enum", "schema/enum", "no value has the type, so the values are not checked")


def _close(cleaned: dict[str, Any], note: Note) -> None:
    """Close an object behind its `allOf`, where authors forget that only own members count.

    `additionalProperties: false` does not see members of other schemas (JSON Schema Core §10.3.2),
    so that a member that is required, or every member, would be refused.
    """
    own = cleaned.get("properties", {})
    is_contradiction = not own or not own.keys() >= set(cleaned.get("required", ()))
    is_combined = not cleaned.keys().isdisjoint(_COMBINING)
    if cleaned.get("additionalProperties") is not False or not (is_combined and is_contradiction):
        return
    del cleaned["additionalProperties"]
    cleaned["unevaluatedProperties"] = False
    message = "members of the schemas that it combines are admitted too"
    note("additionalProperties", "schema/closed", message)


def _drop_format(cleaned: dict[str, Any], note: Note) -> None:
    """Leave out a format that no text of the right length has."""
    length = _LENGTHS.get(cleaned.get("format", ""))
    if length is None:
        return
    least, most = cleaned.get("minLength", length), cleaned.get("maxLength", length)
    if not least <= length <= most:
        del cleaned["format"]
        message = f"texts of this format have {length} characters, so it is not checked"
        note("format", "schema/format", message)


def _drop_patterns(cleaned: dict[str, Any], note: Note) -> None:
    patterns = cleaned.get("patternProperties", {})
    kept: dict[str, Any] = {}
    for name, value in patterns.items():
        if (form := runnable(name)) is not None:
            kept[form] = {"allOf": [kept[form], value]} if form in kept else value
    if kept:
        cleaned["patternProperties"] = kept
    else:
        cleaned.pop("patternProperties", None)
    if None not in map(runnable, patterns):
        return
    # Members that the pattern admits would be refused without it.
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        cleaned.pop(keyword, None)
    message = (
        "not every validator can run a pattern in linear time, so other members are not checked"
    )
    note("patternProperties", "schema/pattern", message)


def _has_type(value: Any, kinds: list[str]) -> bool:
    return any(_IS_OF_TYPE[kind](value) for kind in kinds)


_IS_OF_TYPE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "array": _is_list,
    "boolean": _is_flag,
    "integer": lambda value: _is_number(value) and value == int(value),
    "null": lambda value: value is None,
    "number": _is_number,
    "object": _is_map,
    "string": _is_text,
}
