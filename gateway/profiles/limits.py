"""Limits of the size of a schema: what is beyond them, and how it is cut."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.keywords import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES, branches
from gateway.profiles.inlining import noted

# Changes the subschemas of a schema.

Schema = dict[str, Any]

NEGATIVE: Final = frozenset({"not", "if", "then", "else", "maxContains"})
"""Keywords that refuse more when a schema in or beside them admits more, and those that depend on
them."""
LEVELS: Final = frozenset(
    {"properties", "patternProperties", "additionalProperties", "items", "prefixItems", "contains"}
)
"""Keywords whose subschemas are for values inside the value."""


def mapped(schema: Schema, change: Callable[[str, Schema], Schema]) -> Schema:
    """`schema` with `change(keyword, subschema)` in the place of each direct subschema."""

    def changed(keyword: str, value: Any) -> Any:
        return change(keyword, value) if isinstance(value, dict) else value

    found: Schema = {}
    for keyword, value in schema.items():
        if keyword in SCHEMA_VALUES:
            found[keyword] = changed(keyword, value)
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            found[keyword] = [changed(keyword, each) for each in value]
        elif keyword in SCHEMA_MAPS and isinstance(value, dict):
            found[keyword] = {name: changed(keyword, each) for name, each in value.items()}
        else:
            found[keyword] = value
    return found


def positive(schema: Schema) -> Schema:
    """`schema` without the keywords in which a wider schema would refuse more."""
    return {name: value for name, value in schema.items() if name not in NEGATIVE}


# Limits of the size of a schema: what is beyond them, and how it is cut.

_KEPT: Final = frozenset({"type", "title", "description"})


class SchemaLimits(Struct, frozen=True, kw_only=True):
    """The largest schema that a client accepts."""

    depth: int
    """Levels of members and items below the root."""
    properties: int
    """Properties in all."""
    enum_values: int
    """Values of all enumerations."""


class SchemaSize(Struct, frozen=True, kw_only=True):
    """The size of a schema in the terms of `SchemaLimits`."""

    depth: int
    properties: int
    enum_values: int

    def exceeds(self, limits: SchemaLimits) -> Iterator[str]:
        """The limits that the schema exceeds, as text."""
        for name in ("depth", "properties", "enum_values"):
            found, most = getattr(self, name), getattr(limits, name)
            if found > most:
                yield f"{name.replace('_', ' ')} {found:,}, at most {most:,}"


def size_of(schema: Schema) -> SchemaSize:
    """The size of `schema`."""
    nodes = list(_levels(schema, 0))
    return SchemaSize(
        depth=max(level for level, _ in nodes),
        properties=sum(len(each.get("properties", ())) for _, each in nodes),
        enum_values=sum(len(each.get("enum", ())) for _, each in nodes),
    )


def within(schema: Schema, limits: SchemaLimits) -> Schema:
    """`schema`, cut so that it is within `limits` where that is possible. It admits as much."""
    if not list(size_of(schema).exceeds(limits)):
        return schema
    found = _short_lists(schema, limits.enum_values)
    for depth in range(limits.depth, 0, -1):
        cut = _cut(found, depth)
        if not list(size_of(cut).exceeds(limits)):
            return cut
    return _cut(found, 1)


def _levels(schema: Schema, level: int) -> Iterator[tuple[int, Schema]]:
    """Every schema object with its level. An empty one says nothing, so it has no level."""
    if schema:
        yield level, schema
    for keyword, _, member in branches(schema, ""):
        if isinstance(member, dict):
            yield from _levels(member, level + (keyword in LEVELS))


def _cut(schema: Schema, depth: int) -> Schema:
    """`schema` with `depth` levels below it."""
    deepest = max(level for level, _ in _levels(schema, 0)) if schema else 0
    if deepest <= depth:
        return schema
    if depth == 0:
        kept = {name: value for name, value in schema.items() if name in _KEPT}
        kept |= {name: {} for name in ("properties", "items") if name in schema}
        return noted(kept, "(Its parts are not shown here.)")
    # A cut schema admits more. In `not` and `if` that would admit less.
    return mapped(positive(schema), lambda keyword, part: _cut(part, depth - (keyword in LEVELS)))


def _short_lists(schema: Schema, most: int) -> Schema:
    """`schema` without its longest enumerations, so that there are at most `most` values."""
    sizes = sorted(len(each["enum"]) for _, each in _levels(schema, 0) if "enum" in each)
    longest = 0
    while sum(sizes) > most:
        longest = sizes.pop()
    return _without_lists(schema, longest) if longest else schema


def _without_lists(schema: Schema, length: int) -> Schema:
    """`schema` without enumerations of `length` values or more."""
    found = mapped(positive(schema), lambda _, part: _without_lists(part, length))
    if len(found.get("enum", ())) >= length:
        del found["enum"]
        return noted(found, "(Its values are too many to be shown.)")
    return found
