"""What URLs, headers and forms carry is text: `1` may be a number there, and a string too.

Two schemas of different types for such a value are compared by the texts that they admit. A text
stands for the JSON value that a reader makes of it: `1` for a number, `true` for a boolean, and any
other text for a string. Where a string is bounded by its form, all values are written as strings.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any, Final

from msgspec.structs import replace

from gateway.authoring.diff.prepared import UNREAD, encoded
from gateway.authoring.diff.surface import ExchangedSchema
from gateway.contract.values.schema import PREFIX

ANY_TEXT: Final = ["string", "number", "boolean"]
"""The types of the values that stand for any text. No prepared schema has them in this order."""
ONE_VALUE: Final = ["array"]
"""The type of a list that stands for one text. No prepared schema has it as a list."""
WHOLE: Final = frozenset({""})
"""The `texts` of a part that is one text, and has no members."""
_JOINED: Final = ("allOf", "anyOf", "oneOf")
_MAX_DEPTH: Final = 8
_MOST: Final = 10**19 - 1
"""Readers of numbers hold 64 bits: whole numbers of more digits are not written."""
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,14})([.][0-9]{0,5}[1-9])?")
_FRACTION: Final = "-?(0|[1-9][0-9]{0,15})[.][0-9]{0,15}[1-9]"
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SCALARS: Final = frozenset({"boolean", "number", "integer"})
_ANY: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})
_LITERALS: Final[Mapping[str, Any]] = {"true": True, "false": False}


def as_texts(old: ExchangedSchema, new: ExchangedSchema) -> tuple[ExchangedSchema, ExchangedSchema]:
    """The two parts, whose members of different types admit the texts that they did."""
    if old.texts == frozenset() or new.texts == frozenset():
        return old, new
    before, after = (_target(each.schema, each.definitions) for each in (old, new))
    if old.texts == new.texts == WHOLE:
        one, other = (_opened(each.schema, each.definitions) for each in (old, new))
        before, after = _pair(one, other)
        return (old, new) if (before, after) == (one, other) else _with(old, before, new, after)
    if not isinstance(before, dict) or not isinstance(after, dict):
        return old, new
    left, right = before.get("properties", {}), after.get("properties", {})
    changed = False
    for name in left.keys() & right.keys():
        if _says(old.texts, name) and _says(new.texts, name):
            one = _opened(left[name], old.definitions)
            other = _opened(right[name], new.definitions)
            are_repeated = _says(old.repeated, name), _says(new.repeated, name)
            if (pair := _pair(*_as_lists(one, other, are_repeated))) != (one, other):
                left, right = {**left, name: pair[0]}, {**right, name: pair[1]}
                changed = True
    if not changed:
        return old, new
    before, after = {**before, "properties": left}, {**after, "properties": right}
    return _with(old, before, new, after)


def _says(names: frozenset[str] | None, name: str) -> bool:
    return names is None or name in names


def _with(
    old: ExchangedSchema, before: Any, new: ExchangedSchema, after: Any
) -> tuple[ExchangedSchema, ExchangedSchema]:
    return replace(old, schema=before), replace(new, schema=after)


def _target(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """What `schema` is, if it is only a reference or a part of its own."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(schema, dict) or len(schema) != 1:
            break
        if "$ref" in schema:
            schema = definitions[schema["$ref"].removeprefix(PREFIX)]
        elif len(schema.get("allOf", ())) == 1:
            (schema,) = schema["allOf"]
        else:
            break
    return schema


def _opened(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """`schema` with the targets of its references, except inside of objects and deep ones."""
    schema = _target(schema, definitions)
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return schema
    opened = {
        keyword: [_opened(each, definitions, depth + 1) for each in schema[keyword]]
        for keyword in _JOINED
        if keyword in schema
    }
    if "items" in schema:
        opened["items"] = _opened(schema["items"], definitions, depth + 1)
    return {**schema, **opened}


def _pair(one: Any, other: Any) -> tuple[Any, Any]:
    kinds, others = _types(one), _types(other)
    if kinds == others == {"array"} and not {*one, *other} & {*_JOINED}:
        items, more = _pair(one.get("items", True), other.get("items", True))
        return _with_items(one, items), _with_items(other, more)
    if not _may_meet(kinds, others):
        return one, other
    if _is_formed(one) or _is_formed(other):
        return _as_string(one), _as_string(other)
    return as_value(one), as_value(other)


def _as_lists(one: Any, other: Any, are_repeated: tuple[bool, bool]) -> tuple[Any, Any]:
    """The two as lists, if one may be a list whose items are written as a text is."""
    kinds = _types(one), _types(other)
    are_lists = tuple("array" in each for each in kinds)
    is_known = all(each and "object" not in each for each in kinds)
    is_said = all(each for at, each in enumerate(are_repeated) if are_lists[at])
    if not any(are_lists) or not is_known or not is_said or kinds[0] == kinds[1]:
        return one, other
    lists = _as_list(one), _as_list(other)
    return (one, other) if None in lists else lists


def _as_list(schema: Any) -> Any:
    """The lists that `schema` is on the wire, where none is empty. None: not known."""
    kinds = _types(schema) - {"null"}
    if "array" not in kinds:
        return {"type": ONE_VALUE, "items": schema, "minItems": 1, "maxItems": 1}
    if kinds == {"array"} and "type" in schema:
        return {**schema, "type": "array", "minItems": max(1, schema.get("minItems", 0))}
    branches = [_as_list(each) for keyword in _JOINED for each in schema.get(keyword, ())]
    is_union = len(schema) == 1 and "allOf" not in schema and None not in branches
    return {"anyOf": branches} if is_union else None


def _with_items(schema: dict[str, Any], items: Any) -> dict[str, Any]:
    return schema if schema.get("items", True) == items else {**schema, "items": items}


def _may_meet(kinds: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a text may be a string here, and something else there."""
    both = kinds | others
    is_known = bool(kinds and others)
    return is_known and "string" in both and not _SCALARS.isdisjoint(both - {"string"})


def _types(schema: Any) -> frozenset[str]:
    """The types of the values. Empty: not known."""
    if schema is True or schema == {}:
        return _ANY
    if not isinstance(schema, dict):
        return frozenset()
    if "type" in schema:
        kinds = schema["type"]
        return frozenset([kinds] if isinstance(kinds, str) else kinds)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return frozenset(_type_of(each) for each in values)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            found = [_types(each) for each in schema[keyword]]
            return frozenset().union(*found) if all(found) else frozenset()
    typed = (_types(each) for each in schema.get("allOf", ()))
    return next((each for each in typed if each), frozenset())


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "integer", float: "number", list: "array", type(None): "null"}
    return names.get(type(value), "object")


def _is_formed(schema: Any) -> bool:
    """Whether only some texts are a string for it, by their form or length."""
    if not isinstance(schema, dict):
        return False
    if any(_is_formed(each) for keyword in _JOINED for each in schema.get(keyword, ())):
        return True
    if "string" not in _types(schema) or "enum" in schema or "const" in schema:
        return False
    forms = {"pattern", "format", "maxLength"}
    return schema.get("minLength", 0) > 1 or not forms.isdisjoint(schema)


def as_value(schema: Any) -> Any:
    """What stands for the texts of `schema`, where a string is any text or one of a list."""
    if not isinstance(schema, dict) or not schema:
        return schema
    if "enum" in schema or "const" in schema:
        values = [_read(each) for each in schema.get("enum", [schema.get("const")])]
        return {"enum": sorted(values, key=encoded)}
    if joined := _joined(schema, as_value):
        return joined
    kinds = _types(schema)
    if "string" not in kinds:
        return schema
    more = sorted(kinds - {*ANY_TEXT, "integer"})
    found: dict[str, Any] = {"type": [*ANY_TEXT, *more]}
    return {**found, "minLength": schema["minLength"]} if schema.get("minLength") else found


def _joined(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """`schema` with its parts changed. A text may be of two branches, so `oneOf` is `anyOf`."""
    if schema.keys().isdisjoint(_JOINED):
        return {}
    names = {"oneOf": "anyOf"}
    return {
        names.get(keyword, keyword): [change(each) for each in value]
        if keyword in _JOINED
        else value
        for keyword, value in schema.items()
    }


def _read(value: Any) -> Any:
    """The value that a reader makes of the text `value`."""
    if not isinstance(value, str):
        return value
    if _NUMBER.fullmatch(value) and value != "-0":
        return float(value) if "." in value else int(value)
    return _LITERALS.get(value, value)


def _as_string(schema: Any) -> Any:
    """The texts of `schema`, all as strings."""
    if not isinstance(schema, dict) or not schema:
        return {"type": sorted(_ANY - _SCALARS)} if schema in (True, {}) else schema
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return {"enum": sorted((_written(each) for each in values), key=encoded)}
    if joined := _joined(schema, _as_string):
        return joined
    parts = [_kind_as_string(schema, kind) for kind in sorted(_types(schema))]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _written(value: Any) -> Any:
    return encoded(value).decode() if isinstance(value, bool | int | float) else value


def _kind_as_string(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind == "boolean":
        return {"enum": ["false", "true"]}
    if kind not in {"integer", "number"}:
        return {**schema, "type": kind}
    bounds: dict[str, Any] = {each: schema[each] for each in _BOUNDS if each in schema}
    whole: dict[str, Any] = _matching(whole_numbers(bounds))
    if kind == "integer":
        return {**whole, UNREAD: bounds} if "multipleOf" in bounds else whole
    # No pattern says which fractions are between two numbers.
    fractions = _matching([_FRACTION]) | ({UNREAD: bounds} if bounds else {})
    if "multipleOf" in bounds:
        whole[UNREAD] = bounds
    return {"anyOf": [whole, fractions]}


def _matching(patterns: Sequence[str]) -> dict[str, Any]:
    """The strings that match one of `patterns` as a whole."""
    return {"type": "string", "pattern": f"^({'|'.join(patterns)})$"} if patterns else {"enum": []}


def whole_numbers(bounds: Mapping[str, Any]) -> list[str]:
    """Patterns that together match the whole numbers between `bounds`."""
    low = max(
        ceil(bounds.get("minimum", -_MOST)), floor(bounds.get("exclusiveMinimum", -_MOST - 1)) + 1
    )
    high = min(
        floor(bounds.get("maximum", _MOST)), ceil(bounds.get("exclusiveMaximum", _MOST + 1)) - 1
    )
    negative = _between(max(1, -high), -low)
    return [*_between(max(0, low), high), *(f"-{each}" for each in negative)]


def _between(low: int, high: int) -> Iterator[str]:
    """Patterns of the natural numbers from `low` to `high`, by their number of digits."""
    while low <= high:
        last = min(high, 10 ** len(str(low)) - 1)
        yield from _of_one_length(str(low), str(last))
        low = last + 1


def _of_one_length(low: str, high: str) -> Iterator[str]:
    """Patterns of the numbers between two of as many digits."""
    if not low:
        yield ""
        return
    first, last, rest = int(low[0]), int(high[0]), len(low) - 1
    if first == last:
        yield from (low[0] + each for each in _of_one_length(low[1:], high[1:]))
        return
    if low[1:].strip("0"):
        yield from (low[0] + each for each in _of_one_length(low[1:], "9" * rest))
        first += 1
    if high[1:].strip("9"):
        yield from (high[0] + each for each in _of_one_length("0" * rest, high[1:]))
        last -= 1
    if first <= last:
        yield f"[{first}-{last}]" + (f"[0-9]{{{rest}}}" if rest else "")
