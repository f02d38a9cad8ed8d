"""Finds the schemas of members of objects and of elements of arrays."""

from typing import Any

from msgspec import Struct

from gateway.mapping.fields.analysis.algebra import Schema, both, either, kinds


class Member(Struct, frozen=True):
    """A property as an object's schema declares it."""

    schema: Schema
    is_required: bool


def child(schema: Schema, name: str) -> tuple[bool, Member | None]:
    """Whether every value of `schema` is a container, and its member or element `name`."""
    found = kinds(schema)
    if "array" in found and "object" not in found:
        return found == {"array"}, _element(schema, name)
    return found == {"object"}, member(schema, name)


def member(schema: Any, name: str) -> Member | None:
    """The property `name` of objects of `schema`. None if it is not declared."""
    if not isinstance(schema, dict):
        return None
    found = list(_own_members(schema, name))
    for branch in schema.get("allOf", ()):
        inherited = member(branch, name)
        found += [inherited] if inherited else []
    for keyword in ("anyOf", "oneOf"):
        chosen = _alternatives(schema.get(keyword, ()), name)
        found += [chosen] if chosen else []
    if not found:
        return None
    is_required = name in required_of(schema) or any(part.is_required for part in found)
    return Member(both(*(part.schema for part in found)), is_required)


def _own_members(schema: Schema, name: str) -> tuple[Member, ...]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties")
    declared = properties.get(name, others if isinstance(others, dict) else None)
    return () if declared is None or declared is False else (Member(_schema(declared), False),)


def _alternatives(branches: Any, name: str) -> Member | None:
    """The member `name` in any of the `branches` that allow objects."""
    objects = [branch for branch in branches if "object" in kinds(_schema(branch))]
    found = [member(branch, name) for branch in objects]
    declared = [part for part in found if part is not None]
    if not declared:
        return None
    if len(declared) < len(found):
        return Member({}, False)
    is_required = all(part.is_required for part in declared)
    return Member(either(*(part.schema for part in declared)), is_required)


def _element(schema: Schema, name: str) -> Member | None:
    if not name.isdecimal():
        return None
    index = int(name)
    prefix = schema.get("prefixItems", ())
    declared = prefix[index] if index < len(prefix) else schema.get("items")
    if declared is None or declared is False:
        return None
    return Member(_schema(declared), schema.get("minItems", 0) > index)


def items_of(schema: Schema) -> Schema:
    """The schema of the items of lists of `schema`. Empty if the items have several schemas."""
    items = schema.get("items")
    if isinstance(items, dict) and "prefixItems" not in schema:
        return items
    inherited = [items_of(branch) for branch in schema.get("allOf", ()) if isinstance(branch, dict)]
    return both(*inherited)


def _schema(value: Any) -> Schema:
    """A subschema as a mapping, also if it is `true` or `false`."""
    return value if isinstance(value, dict) else {} if value else {"not": {}}


def required_of(schema: Schema) -> tuple[str, ...]:
    """The members that every object of `schema` has, in the order of the schema."""
    branches = (required_of(_schema(branch)) for branch in schema.get("allOf", ()))
    names = [*schema.get("required", ()), *(name for branch in branches for name in branch)]
    return tuple(dict.fromkeys(names))


def members_of(schema: Schema) -> tuple[str, ...]:
    """The members that `schema` declares, in the order of the schema."""
    branches = (
        members_of(_schema(branch))
        for keyword in ("allOf", "anyOf", "oneOf")
        for branch in schema.get(keyword, ())
    )
    names = [*schema.get("properties", {}), *(name for branch in branches for name in branch)]
    return tuple(dict.fromkeys(names))
