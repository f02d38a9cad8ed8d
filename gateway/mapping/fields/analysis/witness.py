"""Generates sample values to find one that a schema allows and another refuses, simplest first."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, Final

from gateway.mapping.fields.analysis.algebra import Schema, admits, finite, kinds
from gateway.mapping.fields.analysis.shapes import items_of, member, members_of, required_of

_MOST: Final = 400
_DEEPEST: Final = 4
_LONGEST: Final = 5000
_TEXTS: Final = (
    "x",
    "",
    "other",
    "0",
    "1.5",
    "true",
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.123+01:00",
    "12:00:00Z",
    "a@example.com",
    "https://example.com/",
    "6f8f5c1e-0a51-4c8e-9d7a-3d1c2b4a5f60",
    "\n",
)
_NUMBERS: Final = (0, 1, -1, 0.5, 1e30, -1e30)


def samples(schema: Schema, other: Schema) -> Iterator[Any]:
    """Values of `schema`. Those that `other` is likely to refuse come first."""
    tried = (value for value in _candidates(schema, other, 0) if admits(schema, value))
    return islice(tried, _MOST)


def _candidates(schema: Schema, other: Schema, depth: int) -> Iterator[Any]:
    listed = finite(schema)
    if listed is not None:
        yield from listed
        return
    found = kinds(schema)
    yield from [None] if "null" in found else []
    yield from [False, True] if "boolean" in found else []
    yield from _numbers(schema, other) if "number" in found else []
    yield from _texts(schema, other) if "string" in found else []
    if depth < _DEEPEST:
        yield from _lists(schema, other, depth) if "array" in found else []
        yield from _objects(schema, other, depth) if "object" in found else []


def _numbers(schema: Schema, other: Schema) -> Iterator[Any]:
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    for bound in chain(_keywords(other, names), _keywords(schema, names)):
        yield from (bound, bound - 1, bound + 1, bound - 0.5, bound + 0.5)
    yield from _NUMBERS


def _texts(schema: Schema, other: Schema) -> Iterator[str]:
    yield from (text for text in _keywords(schema, ("examples",)) if isinstance(text, str))
    yield from _TEXTS
    names = ("maxLength", "minLength")
    bounds = chain(_keywords(other, names), (3, 4, 8), _keywords(schema, names))
    lengths = [
        min(bound + step, _LONGEST) for bound in bounds for step in (0, 1, -1) if bound + step > 0
    ]
    yield from (letter * length for length in lengths for letter in "Aa0x")


def _lists(schema: Schema, other: Schema, depth: int) -> Iterator[list[Any]]:
    yield []
    items = items_of(schema)
    few = list(islice(_admitted(items, items_of(other), depth + 1), 12))
    yield from ([value] for value in few)
    counts = (*_keywords(other, ("maxItems", "minItems")), *_keywords(schema, ("minItems",)))
    yield from (
        few[:1] * size for count in counts for size in (count, count + 1) if few and size < 1000
    )


def _objects(schema: Schema, other: Schema, depth: int) -> Iterator[dict[str, Any]]:
    least = {
        name: next(_admitted(_part(schema, name), _part(other, name), depth + 1), None)
        for name in required_of(schema)
    }
    yield least
    yield {**least, "x": 1}
    for name in members_of(schema):
        values = _admitted(_part(schema, name), _part(other, name), depth + 1)
        yield from ({**least, name: value} for value in islice(values, 12))


def _admitted(schema: Schema, other: Schema, depth: int) -> Iterator[Any]:
    return (value for value in _candidates(schema, other, depth) if admits(schema, value))


def _part(schema: Schema, name: str) -> Schema:
    found = member(schema, name)
    return found.schema if found else {}


def _keywords(schema: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The values of these keywords, including those in the branches of `allOf` and others."""
    if not isinstance(schema, dict):
        return
    for name in names:
        value = schema.get(name, ())
        yield from value if isinstance(value, list) else [value] if value != () else []
    for branch in chain.from_iterable(schema.get(k, ()) for k in ("allOf", "anyOf", "oneOf")):
        yield from _keywords(branch, names)
