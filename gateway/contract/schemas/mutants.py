"""Schemas that differ from a contract's schema in one keyword: the mistakes that are easily made.

A mutant stands for a validator with that mistake. A value that one of the two admits and the other
refuses shows it.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.schemas.keywords import (
    ANNOTATIONS,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMA_VALUES,
    subschemas,
)
from gateway.contract.values.pointers import child, steps
from gateway.contract.values.schema import matcher

Schema = dict[str, Any]

_SHOWN: Final = 40
"""Characters of a value in a mutant's sentence."""
_MAX_MEMBERS: Final = 60
"""Of a longer enumeration, so many members are dropped by themselves."""
_NO_ASSERTIONS: Final = ANNOTATIONS | {"$schema", "$id", "$anchor", "$defs", "example"}


class Mutant(Struct, frozen=True, kw_only=True):
    """A schema with one other keyword."""

    pointer: str
    """The keyword, or the member of it, that differs."""
    operator: str
    """The kind of the change."""
    text: str
    """The change, such as `/properties/passengers/maximum 19 → 20`. Each mutant has its own."""
    place: tuple[str, ...]
    """The steps to the innermost subschema that differs."""
    schema: Schema
    """The whole schema with the change."""


class _Edit(Struct, frozen=True):
    """One change of a subschema."""

    operator: str
    below: tuple[str | int, ...]
    """The steps from the subschema to what differs."""
    said: str
    """What changes, after the pointer."""
    part: Schema
    """The subschema with the change."""


_Edits = Iterator[_Edit]


def mutants(schema: Schema) -> Iterator[Mutant]:
    """Every mutant of `schema`, in the order of the schema. Definitions are changed where they are.

    No two of one subschema are the same, and none is the schema itself.
    """
    named: Counter[str] = Counter()
    for pointer, part in subschemas(schema):
        place = tuple(steps(pointer))
        seen = {_key(part)}
        for edit in _edits(part):
            key = _key(edit.part)
            if key not in seen:
                seen.add(key)
                mutant = _mutant(schema, pointer, place, edit)
                named[mutant.text] += 1
                number = named[mutant.text]
                # A pattern has several places where `+` may become `*`.
                yield replace(mutant, text=f"{mutant.text} ({number})") if number > 1 else mutant


def _mutant(schema: Schema, pointer: str, place: tuple[str, ...], edit: _Edit) -> Mutant:
    at = pointer
    for step in edit.below:
        at = child(at, step)
    is_below = edit.operator == "schema loosened"
    return Mutant(
        pointer=at,
        operator=edit.operator,
        text=f"{at or '/'} {edit.said}",
        place=(*place, *map(str, edit.below)) if is_below else place,
        schema=replaced(schema, place, edit.part),
    )


def replaced(value: Any, place: tuple[str, ...], new: Any) -> Any:
    """`value` with `new` at the end of the steps of `place`. What leads there is copied."""
    if not place:
        return new
    first, rest = place[0], place[1:]
    if isinstance(value, list):
        index = int(first)
        return [*value[:index], replaced(value[index], rest, new), *value[index + 1 :]]
    return {**value, first: replaced(value[first], rest, new)}


def _edits(part: Schema) -> _Edits:
    for keyword, value in part.items():
        if keyword in _NO_ASSERTIONS or keyword.startswith("x-"):
            continue
        if keyword not in _BY_MEMBER:
            said = "dropped" if isinstance(value, dict | list) else f"{_shown(value)} dropped"
            yield _Edit("keyword dropped", (keyword,), said, _without(part, keyword))
        for operator in _OPERATORS.get(keyword, ()):
            yield from operator(part, keyword)
    yield from _added(part)


# The operators. Each yields the edits of one keyword of a subschema.


def _bound(part: Schema, keyword: str) -> _Edits:
    value = part[keyword]
    step = part.get("multipleOf", 1)
    for other in (value - step, value + step):
        yield _set(part, "bound moved", keyword, _whole(other))
    opposite = _OPPOSITES[keyword]
    if opposite not in part:
        said = f"{_shown(value)} → {opposite}"
        changed = {**_without(part, keyword), opposite: value}
        yield _Edit("bound in or out", (keyword,), said, changed)


def _count(part: Schema, keyword: str) -> _Edits:
    value = part[keyword]
    for other in (value - 1, value + 1):
        if other >= 0:
            yield _set(part, "count moved", keyword, int(other))


def _multiple(part: Schema, keyword: str) -> _Edits:
    yield _set(part, "multiple doubled", keyword, _whole(part[keyword] * 2))


def _enum(part: Schema, keyword: str) -> _Edits:
    values = part[keyword]
    if len(values) > 1:
        for index, value in enumerate(values[:_MAX_MEMBERS]):
            rest = [*values[:index], *values[index + 1 :]]
            said = f"{_shown(value)} dropped"
            yield _Edit("member dropped", (keyword, index), said, {**part, keyword: rest})
    new = _unlike(values)
    yield _Edit(
        "member added", (keyword,), f"{_shown(new)} added", {**part, keyword: [*values, new]}
    )


def _const(part: Schema, keyword: str) -> _Edits:
    yield _set(part, "constant changed", keyword, _unlike([part[keyword]]))


def _type(part: Schema, keyword: str) -> _Edits:
    given = part[keyword]
    kinds = [given] if isinstance(given, str) else list(given)
    for kind in kinds if len(kinds) > 1 else ():
        rest = [each for each in kinds if each != kind]
        operator = "null dropped" if kind == "null" else "type narrowed"
        yield _set(part, operator, keyword, rest[0] if len(rest) == 1 else rest)
    if "integer" in kinds:
        wide = ["number" if each == "integer" else each for each in kinds]
        yield _set(part, "integer as number", keyword, wide[0] if len(wide) == 1 else wide)
    if "number" in kinds:
        narrow = ["integer" if each == "number" else each for each in kinds]
        yield _set(part, "type narrowed", keyword, narrow[0] if len(narrow) == 1 else narrow)
    for kind in kinds:
        for other in _MISTAKEN.get(kind, ()):
            if other not in kinds:
                operator = "null added" if other == "null" else "type widened"
                yield _set(part, operator, keyword, [*kinds, other])


_MISTAKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("null", "number", "boolean"),
    "integer": ("null", "string", "boolean"),
    "number": ("null", "string", "boolean"),
    "boolean": ("null", "string", "integer"),
    "array": ("null", "string", "object"),
    "object": ("null", "string", "array"),
}
"""Types that a lenient validator takes for another."""


def _required(part: Schema, keyword: str) -> _Edits:
    names = part[keyword]
    for index, name in enumerate(names):
        rest = [*names[:index], *names[index + 1 :]]
        said = f"{_shown(name)} dropped"
        yield _Edit("required dropped", (keyword, index), said, {**part, keyword: rest})


def _pattern(part: Schema, keyword: str) -> _Edits:
    for said, other in _pattern_edits(part[keyword]):
        yield _Edit("pattern changed", (keyword,), said, {**part, keyword: other})


def _loosened(part: Schema, keyword: str) -> _Edits:
    """A schema of members or items that admits all, or nothing."""
    value = part[keyword]
    if value is not False and keyword in _CLOSING:
        yield _Edit("closed", (keyword,), "→ false", {**part, keyword: False})


def _members(part: Schema, keyword: str) -> _Edits:
    """Each of several named schemas is dropped, or admits all."""
    members = part[keyword]
    for name, member in members.items():
        if member is not True and member != {}:
            changed = {**part, keyword: {**members, name: True}}
            yield _Edit("schema loosened", (keyword, name), "→ true", changed)
        said = "dropped"
        changed = {**part, keyword: _without(members, name)}
        yield _Edit("member dropped", (keyword, name), said, changed)


def _branches(part: Schema, keyword: str) -> _Edits:
    """Each of several schemas is dropped."""
    schemas = part[keyword]
    for index in range(len(schemas)):
        rest = [*schemas[:index], *schemas[index + 1 :]]
        changed = {**part, keyword: rest} if rest else _without(part, keyword)
        yield _Edit("branch dropped", (keyword, index), "dropped", changed)


def _choice(part: Schema, keyword: str) -> _Edits:
    """One of several is any of them, and the other way round."""
    other = "anyOf" if keyword == "oneOf" else "oneOf"
    if other not in part and len(part[keyword]) > 1:
        changed = {**_without(part, keyword), other: part[keyword]}
        yield _Edit("choice changed", (keyword,), f"→ {other}", changed)


def _positions(part: Schema, keyword: str) -> _Edits:
    schemas = part[keyword]
    for index, schema in enumerate(schemas):
        if schema is not True and schema != {}:
            loose = [*schemas[:index], True, *schemas[index + 1 :]]
            yield _Edit("schema loosened", (keyword, index), "→ true", {**part, keyword: loose})
    shorter = {**part, keyword: schemas[:-1]} if len(schemas) > 1 else _without(part, keyword)
    yield _Edit("branch dropped", (keyword, len(schemas) - 1), "dropped", shorter)


def _dependent(part: Schema, keyword: str) -> _Edits:
    needed = part[keyword]
    for name, others in needed.items():
        for index, other in enumerate(others):
            rest = [*others[:index], *others[index + 1 :]]
            changed = {**part, keyword: {**needed, name: rest}}
            said = f"{_shown(other)} dropped"
            yield _Edit("required dropped", (keyword, name, index), said, changed)


def _contains(part: Schema, keyword: str) -> _Edits:
    """The counts that are not written: at least one, and any number."""
    if "minContains" not in part:
        for least in (0, 2):
            changed = {**part, "minContains": least}
            yield _Edit("count moved", (keyword,), f"at least 1 → {least}", changed)


def _condition(part: Schema, keyword: str) -> _Edits:
    if "then" in part or "else" in part:
        changed = {
            name: value for name, value in part.items() if name not in {"if", "then", "else"}
        }
        yield _Edit("condition dropped", (keyword,), "dropped with then and else", changed)


def _unique(part: Schema, keyword: str) -> _Edits:
    if part[keyword] is False:
        yield _set(part, "items made unique", keyword, True)


def _added(part: Schema) -> _Edits:
    """What a schema does not say, and a stricter validator demands."""
    properties = part.get("properties", {})
    required = part.get("required", [])
    for name in properties:
        if name not in required and properties[name] is not False:
            said = f"{_shown(name)} added"
            changed = {**part, "required": [*required, name]}
            yield _Edit("required added", ("required",), said, changed)
    if properties and not part.keys() & {"additionalProperties", "unevaluatedProperties"}:
        changed = {**part, "additionalProperties": False}
        yield _Edit("closed", ("additionalProperties",), "false added", changed)
    kind = part.get("type")
    if (kind == "array" or (isinstance(kind, list) and "array" in kind)) and (
        "uniqueItems" not in part
    ):
        changed = {**part, "uniqueItems": True}
        yield _Edit("items made unique", ("uniqueItems",), "true added", changed)


_Operator = Callable[[Schema, str], _Edits]
_OPPOSITES: Final = {
    "minimum": "exclusiveMinimum",
    "maximum": "exclusiveMaximum",
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
}
_CLOSING: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems"}
)
_BY_MEMBER: Final = SCHEMA_LISTS | SCHEMA_MAPS | {"required", "dependentRequired", "if"}
"""Keywords of which each member is dropped by itself."""
_COUNTED: Final = tuple(
    f"{side}{what}" for side in ("min", "max") for what in ("Length", "Items", "Properties")
)
_OPERATORS: Final[Mapping[str, tuple[_Operator, ...]]] = {
    **dict.fromkeys(_OPPOSITES, (_bound,)),
    **dict.fromkeys((*_COUNTED, "minContains", "maxContains"), (_count,)),
    **dict.fromkeys(_CLOSING & SCHEMA_VALUES, (_loosened,)),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas"), (_members,)),
    "allOf": (_branches,),
    "anyOf": (_branches, _choice),
    "oneOf": (_branches, _choice),
    "prefixItems": (_positions,),
    "multipleOf": (_multiple,),
    "enum": (_enum,),
    "const": (_const,),
    "type": (_type,),
    "required": (_required,),
    "pattern": (_pattern,),
    "dependentRequired": (_dependent,),
    "contains": (_contains,),
    "if": (_condition,),
    "uniqueItems": (_unique,),
}


def _set(part: Schema, operator: str, keyword: str, value: Any) -> _Edit:
    said = f"{_shown(part[keyword])} → {_shown(value)}"
    return _Edit(operator, (keyword,), said, {**part, keyword: value})


def _without(members: Schema, name: str) -> Schema:
    return {each: value for each, value in members.items() if each != name}


def _unlike(values: list[Any]) -> Any:
    """A value near the last of `values` that is none of them."""
    match values[-1]:
        case bool(last):
            candidates: tuple[Any, ...] = (not last,)
        case int(last) | float(last):
            candidates = (last + 1, last - 1)
        case str(last):
            candidates = (last.swapcase(), f"{last}x")
        case _:
            candidates = ()
    keys = {_key(each) for each in values}
    more = (*candidates, "other", None, *range(len(values) + 1))
    return next(each for each in more if _key(each) not in keys)


def _whole(number: float) -> float:
    rounded = round(number, 12)
    return int(rounded) if rounded == int(rounded) else rounded


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


# The edits of a pattern.

_PART: Final = re.compile(
    r"\\p\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\(\?[:=!<][=!]?|.", re.DOTALL
)
_COUNTS: Final = re.compile(r"\{(\d+)(,?)(\d*)\}")
_RANGES: Final = ("A-Z", "a-z")


def _pattern_edits(pattern: str) -> Iterator[tuple[str, str]]:
    """What differs, and the other pattern: an anchor, a case, or one repetition.

    Only patterns that the validator can run.
    """
    parts = _PART.findall(pattern)
    for said, other in (*_anchors(parts), *_cases(parts), *_repetitions(parts)):
        if other != pattern and matcher(other) is not None:
            yield said, other


def _anchors(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        if part in {"^", "$"}:
            yield f"{part} dropped", _joined(parts, index, "")
    if parts and "^" not in parts:
        yield "^ added", f"^(?:{''.join(parts)})"
    if parts and "$" not in parts:
        yield "$ added", f"(?:{''.join(parts)})$"


def _cases(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        if part[0] != "[":
            continue
        present = [each for each in _RANGES if each in part]
        if len(present) == 1:
            (missing,) = set(_RANGES) - set(present)
            yield "case ignored", _joined(parts, index, f"{part[:-1]}{missing}]")
        if part != "[]" and not part.startswith("[^"):
            yield f"{part} as any character", _joined(parts, index, ".")


def _repetitions(parts: list[str]) -> Iterator[tuple[str, str]]:
    for index, part in enumerate(parts):
        counts = _COUNTS.fullmatch(part)
        if counts:
            for other in _other_counts(int(counts[1]), counts[2], counts[3]):
                yield f"{part} as {other}", _joined(parts, index, other)
        elif index and part in {"+", "*", "?"} and parts[index - 1] not in {"+", "*", "?"}:
            for other in {"+": "*", "*": "+", "?": ""}[part], "":
                yield f"{part} as {other or 'once'}", _joined(parts, index, other)


def _other_counts(low: int, comma: str, high: str) -> Iterator[str]:
    if not comma:
        yield from (f"{{{each}}}" for each in (low - 1, low + 1) if each >= 0)
        return
    for least, most in (
        (low - 1, high),
        (low + 1, high),
        *(((low, str(int(high) + by)) for by in (-1, 1)) if high else ()),
    ):
        if least >= 0 and (not most or least <= int(most)):
            yield f"{{{least},{most}}}"


def _joined(parts: list[str], index: int, other: str) -> str:
    return "".join([*parts[:index], other, *parts[index + 1 :]])
