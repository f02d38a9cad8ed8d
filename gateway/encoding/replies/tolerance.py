"""Reads replies of vendors as tolerantly as their contracts permit.

Null in an optional member is as no member, and a row that breaks its schema costs that row alone,
where the contract says which list has rows.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.values.pointers import NoSuchPlace, child, follow, steps
from gateway.contract.values.schema import Validator
from gateway.encoding.shapes import Schema, Shapes

_NULL: Final = "null"


class _Rows(Struct, frozen=True):
    place: str
    validator: Validator

    def told(self, index: int, row: Any) -> str:
        """Where the row is, and what is wrong with it."""
        first = self.validator.violations(row)[0]
        return f"{child(self.place, index)}{first.pointer}: {first.detail}"


class ReplySchema(Validator):
    """The schema of one reply."""

    __slots__ = ("_nulls", "_place", "_rows", "_whole")

    def __init__(self, schema: dict[str, Any], rows: str | None) -> None:
        """`rows`: the pointer to the list of rows in the reply. None: it has none."""
        super().__init__(schema)
        self._whole = schema
        self._place = rows
        # Both are made for the first reply that is not valid.
        self._nulls: AbsentNulls | None = None
        self._rows: _Rows | None = None

    def lenient(self, value: Any) -> tuple[Any, tuple[str, ...]]:
        """`value` as it may be valid, and what was left out of it, each with its place and cause.

        If every row is broken, all stay: then the vendor has changed, and it is an error.
        """
        if self._nulls is None:
            self._nulls = AbsentNulls(self._whole.get("$defs", {}))
            self._rows = None if self._place is None else _rows_of(self._whole, self._place)
        value = self._nulls.without(value, self._whole)
        return value, () if self._rows is None else _sorted_out(value, self._rows)


def _sorted_out(value: Any, rows: _Rows) -> tuple[str, ...]:
    """Remove the broken rows of `value`, unless all are."""
    try:
        found = follow(value, rows.place)
    except NoSuchPlace:
        return ()
    if not isinstance(found, list):
        return ()
    broken = [index for index, each in enumerate(found) if not rows.validator.admits(each)]
    if not broken or len(broken) == len(found):
        return ()
    left_out = tuple(rows.told(index, found[index]) for index in broken)
    for index in reversed(broken):
        del found[index]
    return left_out


def _rows_of(schema: Mapping[str, Any], place: str) -> _Rows | None:
    """The rows of the list at `place`, or None if `schema` declares none."""
    inner: Any = schema
    for step in steps(place):
        properties = inner.get("properties") if isinstance(inner, Mapping) else None
        inner = properties.get(step) if isinstance(properties, Mapping) else None
    items = inner.get("items") if isinstance(inner, Mapping) else None
    if not isinstance(items, Mapping):
        return None
    row = {"$defs": schema["$defs"], **items} if "$defs" in schema else {**items}
    return _Rows(place, Validator(row))


class AbsentNulls:
    """Leaves members that are null out of values of one document's schemas."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._shapes = Shapes(definitions)

    def without(self, value: Any, schema: Schema) -> Any:
        """`value` without each optional member that is null and that `schema` describes without
        null. In a union, a member stays if one branch that describes it admits null."""
        if isinstance(value, dict):
            return self._object(value, schema)
        if isinstance(value, list):
            return [
                self.without(each, _any_of(self._items(schema, index)))
                for index, each in enumerate(value)
            ]
        return value

    def _object(self, value: dict[str, Any], schema: Schema) -> dict[str, Any]:
        required = self._shapes.required(schema)
        parts = [*self._shapes.parts(schema)]
        found: dict[str, Any] = {}
        for name, member in value.items():
            described = [*_members(parts, name)]
            if member is not None:
                found[name] = self.without(member, _any_of(described))
            elif name in required or not described or any(map(self._admits_null, described)):
                found[name] = None
        return found

    def _admits_null(self, schema: Schema) -> bool:
        return _NULL in self._shapes.types(schema)

    def _items(self, schema: Schema, index: int) -> Iterator[Schema]:
        for part in self._shapes.parts(schema):
            first = part.get("prefixItems", ())
            if index < len(first):
                yield first[index]
            elif "items" in part:
                yield part["items"]


def _members(parts: list[Mapping[str, Any]], name: str) -> Iterator[Schema]:
    """The schemas by which `parts` describe a member: by its name, else as one of all others."""
    for part in parts:
        if name in (named := part.get("properties", {})):
            yield named[name]
        elif "additionalProperties" in part and "patternProperties" not in part:
            yield part["additionalProperties"]


def _any_of(schemas: Iterator[Schema] | list[Schema]) -> Schema:
    found = [*schemas]
    if not found:
        return True
    return found[0] if len(found) == 1 else {"anyOf": found}
